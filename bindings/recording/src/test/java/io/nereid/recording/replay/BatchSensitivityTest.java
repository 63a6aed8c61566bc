package io.nereid.recording.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.recording.AnswerSource;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.Recorder;
import io.nereid.recording.Recording;
import io.nereid.recording.RecordingOptions;
import io.nereid.recording.RuntimeAnswers;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.OutputFigures;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models whose answers depend on their neighbours, on chance, or on neither. */
@SuppressWarnings("try") // recorders are opened to be closed
class BatchSensitivityTest {

  private static final Path MODELS = Path.of("..", "..", "native", "test", "models");

  @TempDir private Path directory;

  private Recording recording;
  private List<RecordedCall> calls;

  /** Sixty requests of one row and one to six elements, the largest of which differ. */
  @BeforeEach
  void record() throws IOException {
    try (Nereid nereid = open("identity_fp32");
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(directory))) {
      for (int i = 0; i < 60; i++) {
        float[] values = new float[1 + i % 6];
        for (int j = 0; j < values.length; j++) {
          values[j] = (i + 1) * 0.37f + j;
        }
        Tensor input = Tensor.ofFloats(values, 1, values.length);
        try (var request = nereid.model().newRequest().id("r" + i).input("INPUT0", input);
            var response = request.infer()) {
          assertEquals(values[0], response.output("OUTPUT0").floatAt(0));
        }
      }
    }
    recording = Recording.open(directory);
    calls = recording.byArrival();
  }

  @AfterEach
  void close() throws IOException {
    recording.close();
  }

  private static Nereid open(String model) {
    return Nereid.open(MODELS.resolve(model + ".onnx"));
  }

  private AnswerComparison moved(String model, boolean padded) {
    try (Nereid nereid = open(model)) {
      return BatchSensitivity.measure(
          calls, new RuntimeAnswers(nereid, true), new BatchSensitivity.Options(7, 40, padded));
    }
  }

  private static OutputFigures figures(AnswerComparison moved, String kind) {
    return moved.figures().stream()
        .filter(figures -> figures.output().equals("identity_fp32" + kind + "/OUTPUT0"))
        .findFirst()
        .orElseThrow(() -> new AssertionError(kind + " is not in " + moved.text()));
  }

  @Test
  void answersOfAModelWithoutNeighboursDoNotMove() {
    AnswerComparison moved = moved("identity_fp32", false);
    assertFalse(moved.differs(), moved.text());
    assertEquals(40, figures(moved, " alone again").answers());
    for (String kind : List.of("first in", "last in", "inside")) {
      assertTrue(figures(moved, " " + kind + " its batch").answers() > 0, moved::text);
    }
    assertTrue(figures(moved, " in a batch of  2 or less").answers() > 0, moved::text);
    assertEquals(0, BatchSensitivity.noise(moved).get("identity_fp32/OUTPUT0"));
    assertFalse(moved.text().contains("padded"), moved.text());
  }

  /** The steps of the quantization come from all that is in the batch. */
  @Test
  void answersThatDependOnTheirNeighboursMove() {
    AnswerComparison moved = moved("dynamic_quantization", false);
    assertEquals(0, figures(moved, " alone again").differing());
    assertTrue(figures(moved, " in a batch of  2 or less").differing() > 0, moved::text);
    double most = figures(moved, "").absolute();
    assertTrue(most > 0 && most < 0.2, moved::text);
    assertEquals(2 * most, BatchSensitivity.noise(moved).get("identity_fp32/OUTPUT0"));
    assertEquals(moved.text(), moved("dynamic_quantization", false).text());
  }

  /** An element of the answer stays where it is when zeros follow its row. */
  @Test
  void shorterRequestsAreFilledWithZeros() {
    AnswerComparison moved = moved("identity_fp32", true);
    assertFalse(moved.differs(), moved.text());
    assertTrue(figures(moved, " padded").answers() > 0, moved::text);
  }

  private AnswerComparison compared(String one, String other, boolean floor, WorstCalls worst) {
    try (Nereid first = open(one);
        Nereid second = open(other)) {
      AnswerSource a = new RuntimeAnswers(first, true);
      return new ReplayedAnswers(a, new RuntimeAnswers(second, true), Map.of())
          .compare(calls, floor ? Optional.of(a) : Optional.empty(), worst);
    }
  }

  /** Each element has noise with a standard deviation of 0.001, and 1 a tolerance of 0.0001. */
  @Test
  void chanceInAModelDoesNotAlarm() {
    assertTrue(compared("noisy", "noisy_again", false, new WorstCalls(1)).differs());
    AnswerComparison comparison = compared("noisy", "noisy_again", true, new WorstCalls(1));
    assertFalse(comparison.differs(), comparison.text());
    assertTrue(comparison.figures().getFirst().withinNoise() > 0, comparison.text());
  }

  /** Neighbours move its answers further than the other model's are, but it has none here. */
  @Test
  void neighboursHideNoDifference() {
    AnswerComparison comparison =
        compared("dynamic_quantization", "identity_fp32", true, new WorstCalls(1));
    assertTrue(comparison.differs(), comparison.text());
    assertEquals(0, comparison.figures().getFirst().noise());
  }

  @Test
  void moreThanTheNoiseIsFound() {
    AnswerComparison comparison =
        compared("noisy", "dynamic_quantization", true, new WorstCalls(1));
    assertTrue(comparison.differs(), comparison.text());
  }
}
