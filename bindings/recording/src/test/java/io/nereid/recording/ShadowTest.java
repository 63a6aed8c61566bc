package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.recording.Shadow.Verdict;
import io.nereid.recording.compare.OutputFigures;
import io.nereid.recording.compare.Tolerance;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of real requests to shadows, and the verdicts on their answers. */
@SuppressWarnings("try") // recorders and shadows are opened to be closed
class ShadowTest {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Nereid nereid = Nereid.create();

  @AfterEach
  void close() {
    nereid.close();
  }

  private static ModelSpec.Builder spec(long version) {
    return ModelSpec.builder("m")
        .version(version)
        .backend("identity")
        .maxBatchSize(8)
        .input("A", DataType.FP32, -1)
        .input("B", DataType.FP32, -1)
        .output("OUT_A", DataType.FP32, -1)
        .output("OUT_B", DataType.FP32, -1);
  }

  private Model primary() {
    return nereid.load(spec(2).backend(answering(1, new Semaphore(1 << 20))).build());
  }

  private Model shadow(Backend backend) {
    return nereid.load(spec(3).parameter("shadow_of", "2").backend(backend).build());
  }

  /**
   * Answers with A times a factor, and with B. A request takes a permit; one that brings 13 fails.
   */
  private static Backend answering(float factor, Semaphore permits) {
    return context ->
        batch -> {
          permits.acquire();
          float[] values = batch.input("A").toFloatArray();
          for (int i = 0; i < values.length; i++) {
            if (values[i] == 13 && factor != 1) {
              throw new IllegalStateException("13 is not for me");
            }
            values[i] *= factor;
          }
          batch.output("OUT_A", Tensor.ofFloats(values, batch.input("A").shape()));
          if (batch.wantsOutput("OUT_B")) {
            batch.output("OUT_B", batch.input("B"));
          }
        };
  }

  private static void send(Model model, String id, float value, String... outputs) {
    try (var request =
        model
            .newRequest()
            .id(id)
            .parameter("key", "value")
            .input("A", Tensor.ofFloats(new float[] {value, 2 * value}, 1, 2))
            .input("B", Tensor.ofFloats(new float[] {-value}, 1, 1))) {
      for (String output : outputs) {
        request.output(output);
      }
      try (var response = request.infer()) {
        assertEquals(value, response.output("OUT_A").floatAt(0), "the primary answers");
      }
    }
  }

  private static Verdict await(Shadow shadow, Predicate<Verdict> wanted) {
    long startNs = System.nanoTime();
    while (!wanted.test(shadow.verdict())) {
      if (System.nanoTime() - startNs > PATIENCE.toNanos()) {
        throw new AssertionError("the verdict stays " + shadow.verdict());
      }
      Thread.onSpinWait();
    }
    return shadow.verdict();
  }

  @Test
  void anEqualVersionAnswersAlike() {
    Model model = primary();
    Model copied =
        nereid.load(
            spec(3).parameter("shadow_of", "2").backend(answering(1, new Semaphore(99))).build());
    try (Shadow shadow = Shadow.start(nereid, copied, ShadowOptions.DEFAULT)) {
      send(model, "one", 1);
      send(model, "two", 2, "OUT_A");
      Verdict verdict = await(shadow, now -> now.compared() == 2);
      assertEquals(2, verdict.primary());
      assertEquals(0, verdict.differing() + verdict.failed() + verdict.dropped());
      assertEquals("m/OUT_A", verdict.outputs().getFirst().output());
      assertEquals(2, verdict.outputs().getFirst().answers());
      assertEquals(1, verdict.outputs().getLast().answers(), "one request did not want OUT_B");
      assertEquals(2, copied.statistics().success().count());
    }
    send(model, "three", 3);
    assertEquals(2, copied.statistics().success().count());
  }

  @Test
  void anotherAnswerIsSeenUnlessItIsTolerated() {
    Model model = primary();
    Model copied = shadow(answering(1.001f, new Semaphore(99)));
    try (Shadow shadow = Shadow.start(nereid, copied, ShadowOptions.DEFAULT);
        Shadow tolerant =
            Shadow.start(
                nereid,
                copied,
                new ShadowOptions(1, 1 << 20, Map.of("m/OUT_A", new Tolerance(0, 0.01))))) {
      send(model, "zero", 0);
      send(model, "five", 5);
      send(model, "thirteen", 13);
      Verdict verdict = await(shadow, now -> now.compared() == 3);
      assertEquals(1, verdict.differing());
      assertEquals(1, verdict.failed());
      assertTrue(verdict.failure().contains("13 is not for me"), verdict.failure());
      OutputFigures figures = verdict.outputs().getFirst();
      assertEquals(0.001, figures.relative(), 1e-6);
      assertEquals(0.01, figures.absolute(), 1e-5);
      assertEquals("five", figures.worst());
      verdict = await(tolerant, now -> now.compared() == 3);
      assertEquals(0, verdict.differing());
    }
  }

  @Test
  void noRequestWaitsForAShadowThatHangs() {
    Model model = primary();
    Semaphore permits = new Semaphore(0);
    Model copied = shadow(answering(1, permits));
    try (Shadow shadow = Shadow.start(nereid, copied, ShadowOptions.DEFAULT)) {
      for (int i = 0; i < 100; i++) {
        send(model, "request " + i, i);
      }
      Verdict verdict = shadow.verdict();
      assertEquals(0, verdict.compared());
      assertTrue(verdict.dropped() >= 60, "most find too many copies before them: " + verdict);
      permits.release(100);
      long copies = 100 - verdict.dropped();
      verdict = await(shadow, now -> now.compared() == copies);
      assertEquals(0, verdict.differing() + verdict.failed());
      permits.drainPermits();
      send(model, "the last", 1);
      await(shadow, now -> copied.statistics().executingCount() == 1);
    } // which gives the last one up
    permits.release();
  }

  @Test
  void copiesThatFindNoRoomAreDropped() {
    Model model = primary();
    Model copied = shadow(answering(2, new Semaphore(99)));
    try (Shadow shadow = Shadow.start(nereid, copied, new ShadowOptions(1, 1 << 16, Map.of()));
        var request =
            model
                .newRequest()
                .input("A", Tensor.ofFloats(new float[1 << 16], 1, 1 << 16))
                .input("B", Tensor.ofFloats(new float[1], 1, 1));
        var response = request.infer()) {
      assertEquals(1 << 16, response.output("OUT_A").shape()[1]);
      assertEquals(1, shadow.verdict().dropped());
      send(model, "small", 1);
      assertEquals(1, await(shadow, now -> now.compared() == 1).differing());
    }
  }

  @Test
  void aShadowThatIsGoneHasNotFailed() {
    Model model = primary();
    Model copied = shadow(answering(1, new Semaphore(99)));
    try (Shadow shadow = Shadow.start(nereid, copied, ShadowOptions.DEFAULT)) {
      copied.unload();
      send(model, "one", 1);
      Verdict verdict = await(shadow, now -> now.dropped() == 1);
      assertEquals(0, verdict.compared());
    }
  }

  @Test
  void requestsAreRecordedWhileTheyAreCompared(@TempDir Path directory) throws IOException {
    Model model = primary();
    Model copied = shadow(answering(1, new Semaphore(99)));
    try (Recorder recorder = Recorder.start(nereid, RecordingOptions.to(directory));
        Shadow shadow = Shadow.start(nereid, copied, ShadowOptions.DEFAULT)) {
      send(model, "one", 1);
      await(shadow, now -> now.compared() == 1);
    }
    try (Recording recording = Recording.open(directory)) {
      RecordedCall call = recording.next();
      assertEquals("one", call.id());
      assertEquals(2, call.version());
      assertEquals(Map.of("key", "value"), call.parameters());
      assertEquals(null, recording.next(), "the copy is not recorded");
    }
  }

  @Test
  void onlyAShadowIsOne() {
    Model model = primary();
    NereidException e =
        assertThrows(
            NereidException.class, () -> Shadow.start(nereid, model, ShadowOptions.DEFAULT));
    assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    assertEquals(
        "expected a model that is loaded as a shadow (shadow_of), got Model[m, version 2, READY]",
        e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> new ShadowOptions(0, 1 << 20, Map.of()));
    assertThrows(IllegalArgumentException.class, () -> new ShadowOptions(1, 1, Map.of()));
  }
}
