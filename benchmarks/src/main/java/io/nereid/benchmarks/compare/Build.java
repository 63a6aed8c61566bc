package io.nereid.benchmarks.compare;

import io.nereid.perf.compare.MeasurementException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * One of the two builds that are compared.
 *
 * @param label what people call it
 * @param jar its benchmarks, with their class path beside it in lib/
 */
record Build(String label, Path jar) {

  private static final String JAR_NAME = "nereid-benchmarks.jar";

  /** The build in a directory: of the jar, or of a whole tree that was built. */
  static Build in(String label, Path directory) throws MeasurementException {
    for (Path jar :
        List.of(
            directory.resolve(JAR_NAME),
            directory.resolve("benchmarks").resolve("target").resolve(JAR_NAME))) {
      if (Files.isRegularFile(jar)) {
        return new Build(label, jar.toAbsolutePath().normalize());
      }
    }
    throw new MeasurementException(
        ("expected %s or benchmarks/target/%s in %s, found neither: build that tree with "
                + "'./dev build' first")
            .formatted(JAR_NAME, JAR_NAME, directory));
  }

  /** True if both are one and the same build. */
  boolean isSame(Build other) throws IOException {
    return Files.isSameFile(jar, other.jar);
  }
}
