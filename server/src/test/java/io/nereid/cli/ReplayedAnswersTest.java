package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.perf.compare.AnswerComparison;
import io.nereid.perf.compare.AnswerComparison.Answer;
import io.nereid.perf.compare.AnswerComparison.Tolerance;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers to recorded requests, of two sides that are the same, nearly so, or not. */
@SuppressWarnings("try") // recorders are opened to be closed
class ReplayedAnswersTest {

  private static final Path SIMPLE = Path.of("..", "examples", "models", "simple");

  @TempDir private Path directory;

  private CommandLineRun last;

  private static Answer floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return new Answer(DataType.FP32, List.of(1L, (long) values.length), bytes.array());
  }

  private static AnswerComparison compared(Answer a, Answer b) {
    AnswerComparison comparison = new AnswerComparison(Map.of());
    comparison.add("m", "r1", Map.of("OUT", a), Map.of("OUT", b));
    return comparison;
  }

  /** One output in a thousand answers, a thousandth off in one element. */
  @Test
  void aThousandthInOneOfAThousandRequestsIsFound() {
    AnswerComparison comparison = new AnswerComparison(Map.of());
    for (int i = 0; i < 1000; i++) {
      float planted = i == 617 ? 1.001f : 1;
      comparison.add(
          "m",
          "r" + i,
          Map.of("OUT", floats(3, 2, 0.5f), "OTHER", floats(1)),
          Map.of("OUT", floats(3, 2 * planted, 0.5f), "OTHER", floats(1)));
    }
    assertTrue(comparison.differs());
    String text = comparison.text();
    assertTrue(text.replaceAll(" +", " ").contains("m/OUT 1000 1 2.00e-03 1.00e-03"), text);
    assertTrue(text.contains("r617"), text);
    assertTrue(text.replaceAll(" +", " ").contains("m/OTHER 1000 0 0 0 1.000000 0 0 0"), text);
  }

  @Test
  void whatTheOrderOfAdditionsDoesIsNoDifference() {
    assertFalse(compared(floats(0.1f, 1e6f), floats(0.100001f, 1e6f + 10)).differs());
    assertFalse(compared(floats(Float.NaN, 1), floats(Float.NaN, 1)).differs());
  }

  @Test
  void otherKindsOfDifferencesAreTold() {
    String top = compared(floats(1, 1.00001f), floats(1.00001f, 1)).text();
    assertTrue(top.contains("No answer differs"), top);
    assertTrue(top.replaceAll(" +", " ").contains("1.000000 1 0 0"), top);
    String nan = compared(floats(1, 2), floats(1, Float.NaN)).text();
    assertTrue(nan.contains("Answers differ"), nan);
    assertTrue(compared(floats(1, 2), floats(1, 2, 3)).differs());
    Answer texts = new Answer(DataType.BYTES, List.of(1L), new byte[] {1, 0, 0, 0, 'a'});
    Answer others = new Answer(DataType.BYTES, List.of(1L), new byte[] {1, 0, 0, 0, 'b'});
    assertFalse(compared(texts, texts).differs());
    assertTrue(compared(texts, others).differs());
    AnswerComparison failed = new AnswerComparison(Map.of());
    failed.addFailure("m", "r1", "OK", "INTERNAL: no");
    assertTrue(failed.differs());
    assertTrue(failed.text().contains("m, r1: OK and INTERNAL: no"), failed.text());
  }

  @Test
  void tolerancesComeFromAFile() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("tolerances"), "# all\ndefault = 0,0\nm/OUT = 0.1, 1e-9\n");
    Map<String, Tolerance> read = Tolerance.read(file);
    AnswerComparison comparison = new AnswerComparison(read);
    comparison.add("m", "r", Map.of("OUT", floats(1)), Map.of("OUT", floats(1.05f)));
    assertFalse(comparison.differs());
    comparison.add("m", "r", Map.of("B", floats(1)), Map.of("B", floats(1.000001f)));
    assertTrue(comparison.differs());
  }

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
    assertTrue(last.out().contains("answers to 20 recorded requests"), last.out());
    assertTrue(last.out().contains("No answer differs."), last.out());
    assertEquals(
        6,
        run("bench", "compare", one, other, "--replay", recording, "--answers-only"),
        () -> last.out() + last.err());
    assertTrue(last.out().replaceAll(" +", " ").contains("simple/OUTPUT0 20 19"), last.out());
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
