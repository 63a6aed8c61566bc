package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.Recorder;
import io.nereid.recording.Recording;
import io.nereid.recording.RecordingOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers to recorded requests, of two sides that are the same, nearly so, or not. */
@SuppressWarnings("try") // recorders are opened to be closed
class ReplayedAnswersTest {

  private static final Path SIMPLE = Path.of("..", "..", "examples", "models", "simple");

  @TempDir private Path directory;

  private CommandLineRun last;

  private int run(String... arguments) {
    last = new CommandLineRun();
    return last.run(arguments);
  }

  private Path recorded() {
    Path recorded = directory.resolve("recorded");
    RepositoryOptions models =
        RepositoryOptions.builder().repository(SIMPLE.getParent()).explicit("simple").build();
    try (Nereid nereid = Nereid.open(models);
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(recorded))) {
      Model model = nereid.model("simple");
      for (int i = 0; i < 20; i++) {
        int[] values = new int[16];
        values[i % 16] = i;
        Tensor tensor = Tensor.ofInts(values, 1, 16);
        try (var request = model.newRequest().id("r" + i).input("INPUT0", tensor);
            var response = request.input("INPUT1", tensor).infer()) {
          assertEquals(i + i, response.output("OUTPUT0").intAt(i % 16));
        }
      }
      recorder.close();
    }
    return recorded;
  }

  private Path repository(String name, String backend) throws IOException {
    Path model = Files.createDirectories(directory.resolve(name).resolve("simple"));
    Files.createDirectories(model.resolve("1"));
    String tensors =
        """
        name: "simple"
        backend: "%s"
        max_batch_size: 8
        input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ 16 ] },
                { name: "INPUT1" data_type: TYPE_INT32 dims: [ 16 ] } ]
        output [ { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 16 ] },
                 { name: "OUTPUT1" data_type: TYPE_INT32 dims: [ 16 ] } ]
        """;
    Files.writeString(model.resolve("config.pbtxt"), tensors.formatted(backend));
    if (backend.equals("onnxruntime")) {
      Files.copy(SIMPLE.resolve("1/model.onnx"), model.resolve("1/model.onnx"));
    }
    return directory.resolve(name);
  }

  /** The identity answers with its inputs where the model adds and subtracts them. */
  @Test
  void theCommandComparesRepositories() throws IOException {
    String recording = recorded().toString();
    String one = repository("one", "onnxruntime").toString();
    String same = repository("same", "onnxruntime").toString();
    String other = repository("other", "identity").toString();
    assertEquals(
        0,
        run("bench", "compare", one, same, "--replay", recording, "--answers-only"),
        () -> last.out() + last.err());
    assertTrue(last.out().contains("answers to 20 requests"), last.out());
    assertTrue(last.out().contains("No answer differs."), last.out());
    assertEquals(
        6,
        run("bench", "compare", one, other, "--replay", recording, "--answers-only"),
        () -> last.out() + last.err());
    assertTrue(last.out().contains("simple/OUTPUT0: 19 of 20 answers differ"), last.out());
    assertEquals(2, run("bench", "compare", one, other, "--answers-only"), () -> last.out());
  }

  /** The inputs of the recording are what 'nereid perf' takes. */
  @Test
  void theInputsOfARecordingMeasureSpeed() throws Exception {
    Path one = repository("one", "onnxruntime");
    Path inputs = directory.resolve("inputs");
    try (Recording recording = Recording.open(recorded());
        ReplaySide side = ReplaySide.here(one)) {
      ReplayedInputs.write(recording.byArrival(), side.source(), "", inputs);
    }
    String json = Files.readString(inputs.resolve("simple.json"));
    assertEquals(20, json.split("INPUT0", -1).length - 1);
    assertTrue(json.contains("\"shape\":[16]"), json);
  }

  /** A thousand requests, one of which the model that was planted answers a thousandth too high. */
  private Path thousand() throws IOException {
    Path recorded = directory.resolve("thousand");
    try (Nereid nereid = Nereid.open(tests("identity_fp32", "identity_fp32", 1));
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(recorded))) {
      Model model = nereid.model("identity_fp32");
      for (int i = 0; i < 1000; i++) {
        Tensor tensor = Tensor.ofFloats(new float[] {i, 0.5f}, 1, 2);
        try (var request = model.newRequest().id("r" + i).input("INPUT0", tensor);
            var response = request.infer()) {
          assertEquals(i, response.output("OUTPUT0").floatAt(0));
        }
      }
      recorder.close();
      assertEquals(1000, recorder.statistics().recorded());
    }
    return recorded;
  }

  /** A repository with the model of a file, as identity_fp32; more of its versions come beside. */
  private Path tests(String name, String file, int version) throws IOException {
    Path model = directory.resolve(name).resolve("identity_fp32");
    Path into = Files.createDirectories(model.resolve(Integer.toString(version)));
    Path source = Path.of("..", "..", "native", "test", "models", file + ".onnx");
    Files.copy(source, into.resolve("model.onnx"), StandardCopyOption.REPLACE_EXISTING);
    return directory.resolve(name);
  }

  private int compare(String one, String other, Path recording, String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("bench", "compare", one, other, "--answers-only"));
    arguments.addAll(List.of("--replay", recording.toString()));
    arguments.addAll(List.of("--out", directory.resolve("out").toString()));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(String[]::new));
  }

  @Test
  void aThousandthInOneOfAThousandRequestsIsFoundAndWritten() throws IOException {
    Path recorded = thousand();
    String one = directory.resolve("identity_fp32").toString();
    String planted = tests("planted", "planted", 1).toString();
    Path worst = directory.resolve("worst ones");
    assertEquals(
        6, compare(one, planted, recorded, "--worst-dir", worst.toString()), () -> last.err());
    String found = "OUTPUT0: 1 of 1000 answers differ; absolute 6.17e-01, relative 1.00e-03";
    assertTrue(last.out().contains(found), last.out());
    assertTrue(last.out().contains("worst r617"), last.out());
    assertFalse(Files.exists(worst.resolve("2")));
    assertEquals(0, run("infer", "@" + worst.resolve("1/request"), planted), () -> last.err());
    assertTrue(last.out().contains("617.61"), last.out());
  }

  @Test
  void versionsOfAModelAreCompared() throws IOException {
    Path recorded = thousand();
    tests("identity_fp32", "planted", 2);
    String model = directory.resolve("identity_fp32/identity_fp32").toString();
    assertEquals(0, compare(model + ":1", model + ":1", recorded), () -> last.err());
    assertEquals(6, compare(model + ":1", model + ":2", recorded), () -> last.err());
    assertTrue(last.out().contains("1 of 1000 answers differ"), last.out());
    assertEquals(2, compare(model + ":1", model + ":3", recorded));
    assertTrue(last.err().contains("expected a version of a model"), last.err());
  }

  @Test
  void answersByChanceAreNoDifference() throws IOException {
    Path recorded = thousand();
    String noisy = tests("noisy", "noisy", 1).toString();
    String again = tests("again", "noisy_again", 1).toString();
    assertEquals(6, compare(noisy, again, recorded, "--no-noise-floor"), () -> last.err());
    assertEquals(0, compare(noisy, again, recorded), () -> last.out() + last.err());
    assertTrue(last.out().contains("within the noise of"), last.out());
  }

  @Test
  void theSensitivityToABatchIsToldWithinTheProcessAndByAServer() throws IOException {
    String recorded = thousand().toString();
    Path models = tests("quantized", "dynamic_quantization", 1);
    String[] command = {"bench", "batch-sensitivity", "identity_fp32", recorded};
    String[] local = {models.toString(), "--requests", "50"};
    assertEquals(0, run(both(command, local)), () -> last.err());
    String here = last.out();
    assertTrue(here.contains("identity_fp32 alone again/OUTPUT0: 0 of 50 answers differ"), here);
    assertTrue(here.endsWith("Answers move.\n"), here);
    ServerOptions options =
        ServerOptions.DEFAULT.withRepository(
            RepositoryOptions.builder().repository(models).build());
    try (NereidServer server = NereidServer.start(options)) {
      String[] remote = {"-u", "localhost:" + server.httpPort(), "--requests", "50"};
      assertEquals(0, run(both(command, remote)), () -> last.err());
      assertEquals(here, last.out());
    }
    command[2] = "other";
    assertEquals(1, run(both(command, local)));
    assertTrue(last.err().contains("expected requests to model 'other'"), last.err());
  }

  private static String[] both(String[] one, String[] other) {
    List<String> all = new ArrayList<>(List.of(one));
    all.addAll(List.of(other));
    return all.toArray(String[]::new);
  }
}
