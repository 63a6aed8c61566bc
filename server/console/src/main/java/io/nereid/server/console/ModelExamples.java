package io.nereid.server.console;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads the examples of a model: the file {@code examples.json} in its directory of the repository.
 * From any thread.
 */
final class ModelExamples {

  private static final int MOST_BYTES = 1 << 18;

  private ModelExamples() {}

  /**
   * The text of the file, or JSON with its mistake.
   *
   * @return null: the model has none
   */
  static String read(List<Path> repositories, String model) {
    for (Path repository : repositories) {
      Path file = repository.resolve(model, "examples.json").normalize();
      boolean inside = repository.normalize().equals(file.getParent().getParent());
      if (inside && Files.isRegularFile(file)) {
        return text(file);
      }
    }
    return null;
  }

  private static String text(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      return bytes.length > MOST_BYTES
          ? "{\"error\":\"expected at most 256 KiB\"}"
          : new String(bytes, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "{\"error\":\"the server cannot read the file\"}";
    }
  }
}
