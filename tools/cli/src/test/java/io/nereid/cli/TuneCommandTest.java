package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.tensor.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings are tried on a real server, and what is written is served. */
@SuppressWarnings("try") // recorders are opened to be closed
class TuneCommandTest {

  private static final Path MODELS = Path.of("..", "..", "examples", "models");
  private static final String PLANTED = "1000000";

  @TempDir private Path directory;

  private Path models;
  private Path config;

  /** A model whose requests wait for company that never comes. */
  @BeforeEach
  void plant() throws Exception {
    models = directory.resolve("models");
    Path model = Files.createDirectories(models.resolve("digits/1")).getParent();
    Files.copy(MODELS.resolve("digits/1/model.onnx"), model.resolve("1/model.onnx"));
    Files.copy(MODELS.resolve("digits/labels.txt"), model.resolve("labels.txt"));
    config = model.resolve("config.pbtxt");
    String waits =
        "dynamic_batching { max_queue_delay_microseconds: %s preferred_batch_size: [ 64 ] }";
    Files.writeString(
        config,
        Files.readString(MODELS.resolve("digits/config.pbtxt"))
            .replace("dynamic_batching { }", waits.formatted(PLANTED)));
  }

  /** One row of a digit, in a recording. */
  private Path recorded() {
    Path recorded = directory.resolve("recorded");
    try (Nereid nereid = Nereid.open(RepositoryOptions.builder().repository(models).build());
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(recorded))) {
      assertEquals(10, scores(nereid));
    }
    return recorded;
  }

  private static int scores(Nereid nereid) {
    Tensor image = Tensor.ofFloats(new float[64], 1, 8, 8);
    try (var request = nereid.model("digits").newRequest().input("image", image);
        var response = request.infer()) {
      return response.output("scores").toFloatArray().length;
    }
  }

  private CommandLineRun tune(String... more) {
    List<String> all = new ArrayList<>(List.of("tune", "digits", models.toString()));
    all.addAll(List.of("--out", directory.resolve("out").toString()));
    all.addAll(List.of(more));
    CommandLineRun run = new CommandLineRun();
    assertEquals(0, run.run(all.toArray(String[]::new)), () -> run.out() + run.err());
    return run;
  }

  /**
   * Many requests at a time, since a measurement takes until a hundred have waited. None of them
   * takes less than a second where the delay is kept.
   */
  @Test
  @Tag("slow")
  void aPlantedDelayIsNotKept() throws Exception {
    byte[] before = Files.readAllBytes(config);
    String recorded = recorded().toString();
    CommandLineRun run =
        tune("--replay", recorded, "--concurrency", "48", "--p99", "999ms", "--time", "1s");
    assertArrayEquals(before, Files.readAllBytes(config));
    String written = Files.readString(config.resolveSibling("configs/tuned.pbtxt"));
    assertFalse(written.contains("max_queue_delay_microseconds: " + PLANTED), written);
    assertTrue(written.contains("only the new settings keep the p99 of 999.0 ms"), written);
    assertTrue(run.out().contains("Wrote "), run::out);
    String page = Files.readString(directory.resolve("out/tune.html"));
    assertTrue(page.contains("<svg") && page.contains("no batches"), page);
    RepositoryOptions tuned =
        RepositoryOptions.builder().repository(models).configName("tuned").build();
    try (Nereid nereid = Nereid.open(tuned)) {
      assertEquals(10, scores(nereid));
    }
  }

  @Test
  @Tag("endure")
  void aSecondRunGoesOnWithWhatTheFirstOneTried() throws Exception {
    String[] random = {"--concurrency", "4", "--time", "20s"};
    assertTrue(tune(random).out().contains("times as many answers"));
    assertTrue(tune(random).out().startsWith("goes on with "), "what was tried is known");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "digit|expected a model of the repository",
        "digits --p99 soon|expected --p99 of a time such as 20ms",
        "digits --memory much|expected --memory in bytes",
        "digits --concurrency 0|expected --concurrency of 1 or more",
        "digits --requests no/file|expected --requests of a file or directory",
        "digits --shape image|expected --shape NAME:D,D",
      })
  void wrongUsageIsTold(String arguments, String said) {
    CommandLineRun run = new CommandLineRun();
    List<String> all = new ArrayList<>(List.of("tune", "--out", directory + "/out"));
    all.addAll(List.of(arguments.split(" ")));
    all.add(4, models.toString());
    assertEquals(2, run.run(all.toArray(String[]::new)), run::err);
    assertTrue(run.err().contains(said), run::err);
  }

  @ParameterizedTest
  @CsvSource({"simple_twice,is an ensemble", "voice,has sequence_batching", "repeat,is decoupled"})
  void modelsWithNothingToBeTunedAreTold(String model, String said) {
    CommandLineRun run = new CommandLineRun();
    String out = directory.resolve("out").toString();
    assertEquals(4, run.run("tune", model, MODELS.toString(), "--out", out), run::err);
    assertTrue(run.err().contains(said), run::err);
  }
}
