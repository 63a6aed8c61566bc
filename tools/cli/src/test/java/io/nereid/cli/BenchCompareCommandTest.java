package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.Fork;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.compare.ServedForks;
import io.nereid.perf.compare.ServedSide;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forks of real servers, and what is said of a command line that makes no sense. */
class BenchCompareCommandTest {

  private static final Path MODELS = Path.of("..", "..", "examples", "models");
  private static final Fork.Settings SHORT = new Fork.Settings(1, 20, 3, 30);

  @TempDir private Path directory;

  private static ServedSide side(Path models, String model) {
    List<String> server =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName());
    return new ServedSide(server, models.toAbsolutePath(), model);
  }

  private Fork run(ServedSide side, Path requests, String id) throws MeasurementException {
    return new ServedForks(directory, requests, 2, SHORT).run(side, BenchmarkId.of(id, Map.of()));
  }

  @Test
  void aForkIsAServerWithOneModel() throws Exception {
    ServedSide file = side(MODELS.resolve("digits/1/model.onnx"), "model");
    Fork fork = run(file, null, "whatever it was called before");
    assertTrue(fork.timeNs() > 0 && Double.isFinite(fork.timeNs()), fork::toString);
    assertTrue(fork.cpuNs() > 0, fork::toString);
  }

  @Test
  void requestsAreThoseOfTheFile() throws Exception {
    Path own = Files.createDirectory(directory.resolve("requests"));
    String zeros = "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]";
    Files.writeString(
        own.resolve("simple.json"),
        "{\"data\":[{\"INPUT0\":%s,\"INPUT1\":%s}]}".formatted(zeros, zeros));
    ServedSide bundled = side(MODELS, "");
    assertTrue(bundled.names(directory).contains("simple"));
    assertTrue(run(bundled, own, "simple").timeNs() > 0);
    Files.writeString(own.resolve("simple.json"), "{\"data\":[{\"INPUT0\":[1]}]}");
    assertThrows(MeasurementException.class, () -> run(bundled, own, "simple"));
  }

  @Test
  void aModelThatIsNotThereIsTold() {
    MeasurementException e =
        assertThrows(MeasurementException.class, () -> run(side(MODELS, ""), null, "simpel"));
    assertTrue(e.getMessage().contains("simpel"), e::getMessage);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "digits/1/model.onnx .|expected two of a kind",
        "no/such/place .|expected a distribution of Nereid, a model repository, or a file"
            + " NAME.onnx",
        ". . --models .|expected --models for distributions only",
        ". . --requests no/such/file|expected --requests of a file or directory",
        ". . --concurrency 0|expected --concurrency of 1 or more",
        ". . --threshold x|expected percent such as 5%",
      })
  void wrongUsageIsTold(String arguments, String said) {
    CommandLineRun run = new CommandLineRun();
    List<String> all = new ArrayList<>(List.of("bench", "compare"));
    for (String argument : arguments.split(" ")) {
      boolean path = all.size() < 4 || argument.equals(".");
      all.add(path ? MODELS.resolve(argument).toString() : argument);
    }
    assertEquals(2, run.run(all.toArray(String[]::new)), run::err);
    assertTrue(run.err().contains(said), run::err);
  }
}
