package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers to recorded requests, of two sides that are the same, nearly so, or not. */
@SuppressWarnings("try") // recorders are opened to be closed
class ReplayedAnswersTest {

  private static final Path SIMPLE = Path.of("..", "examples", "models", "simple");

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
  void theInputsOfARecordingMeasureSpeed() throws IOException {
    Path one = repository("one", "onnxruntime");
    Path inputs = ReplayedAnswers.inputs(recorded(), one, directory.resolve("inputs"));
    String json = Files.readString(inputs.resolve("simple.json"));
    assertEquals(20, json.split("INPUT0", -1).length - 1);
    assertTrue(json.contains("\"shape\":[16]"), json);
  }
}
