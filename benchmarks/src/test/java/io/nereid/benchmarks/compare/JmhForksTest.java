package io.nereid.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.benchmarks.compare.JmhForks.TimeUnits;
import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.Fork;
import io.nereid.perf.compare.MeasurementException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real JMH in real JVMs, with a benchmark of the tests. */
class JmhForksTest {

  private static final Fork.Settings SHORT = new Fork.Settings(2, 50, 4, 20);

  @TempDir private Path directory;

  /** A jar that leads to the class path of this test. */
  private Build side() throws IOException, MeasurementException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(
        Attributes.Name.CLASS_PATH,
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).toUri().toString())
            .collect(Collectors.joining(" ")));
    Path jar = directory.resolve("nereid-benchmarks.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.flush();
    }
    return Build.in("tests", directory);
  }

  private static BenchmarkId tiny(String tokens) {
    return BenchmarkId.of(TinyBenchmark.class.getName() + ".work", Map.of("tokens", tokens));
  }

  @Test
  void aForkIsMeasured() throws Exception {
    Build side = side();
    JmhProcess jmh = new JmhProcess(directory);
    SortedSet<BenchmarkId> listed = jmh.list(side);
    listed.removeIf(id -> !id.name().startsWith(TinyBenchmark.class.getName()));
    assertEquals(new TreeSet<>(List.of(tiny("1000"), tiny("8000"))), listed);

    JmhForks forks = new JmhForks(jmh, SHORT);
    Fork small = forks.run(side, tiny("1000"));
    Fork large = forks.run(side, tiny("8000"));
    assertTrue(small.timeNs() > 0 && Double.isFinite(small.timeNs()), small::toString);
    // The clock would depend on what else runs on the machine.
    assertTrue(large.cpuNs() > 2 * small.cpuNs(), () -> small + " and " + large);
    assertEquals(1000, small.allocatedBytes(), 100);
  }

  @Test
  void aBenchmarkThatIsNotThereIsTold() throws Exception {
    JmhForks forks = new JmhForks(new JmhProcess(directory), SHORT);
    Build side = side();
    MeasurementException e =
        assertThrows(
            MeasurementException.class,
            () -> forks.run(side, BenchmarkId.of("no.such.Benchmark", Map.of())));
    assertTrue(e.getMessage().contains("No matching benchmarks"), e::getMessage);
  }

  @Test
  void aTreeThatWasNotBuiltIsTold() {
    MeasurementException e =
        assertThrows(MeasurementException.class, () -> Build.in("tests", directory));
    assertTrue(e.getMessage().contains("build that tree"), e::getMessage);
  }

  @Test
  void scoresOfAllKindsBecomeTime() throws MeasurementException {
    assertEquals(2000, TimeUnits.parse("us/op").nsPerOperation(2));
    assertEquals(500, TimeUnits.parse("ops/us").nsPerOperation(2));
    assertEquals(1e9 / 4, TimeUnits.parse("ops/s").nsPerOperation(4));
    assertThrows(MeasurementException.class, () -> TimeUnits.parse("B/op"));
  }

  @Test
  void theLowerHalfOfIterationsCounts() {
    assertEquals(2, Fork.lowerHalf(new double[] {9, 1, 3, 2, 100}));
  }
}
