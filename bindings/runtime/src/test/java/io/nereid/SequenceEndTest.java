package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model.Sequence;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Sequences that run when the runtime is closed go on until they end. */
class SequenceEndTest extends RuntimeTest {

  private static ModelSpec.Builder adder(Duration maxIdle) {
    return adder("adder", maxIdle);
  }

  private static ModelSpec.Builder adder(String name, Duration maxIdle) {
    return ModelSpec.builder(name)
        .backend(context ->
            batch -> {
              int sum = batch.input("STATE").intAt(0) + batch.input("IN").intAt(0);
              batch.output("OUT", Tensor.ofInts(new int[] {sum}, 1, 1));
              batch.output("NEXT", Tensor.ofInts(new int[] {sum}, 1, 1));
            })
        .maxBatchSize(1)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1)
        .sequenceBatching(
            SequenceBatching.oldest(4)
                .withMaxIdle(maxIdle)
                .withState(State.of("STATE", "NEXT", DataType.INT32, 1)));
  }

  private static int add(InferRequest request) {
    return SequenceTest.infer(request.input("IN", Tensor.ofInts(new int[] {1}, 1, 1)));
  }

  @Test
  void closingLetsSequencesEnd() throws Exception {
    Nereid own = Nereid.create(options().drainTimeout(Duration.ofHours(1)).build());
    Model adder = own.load(adder(Duration.ofHours(1)).build());
    Model around =
        own.load(
            ModelSpec.builder("around")
                .maxBatchSize(1)
                .input("IN", DataType.INT32, 1)
                .output("OUT", DataType.INT32, 1)
                .ensemble(
                    new Ensemble(
                        List.of(
                            new Ensemble.Step(
                                "adder",
                                OptionalLong.empty(),
                                Map.of("IN", "IN"),
                                Map.of("OUT", "OUT")))))
                .build());
    Model plain = own.load(identity("plain").build());
    assertTrue(adder.hasSequences() && around.hasSequences());
    assertFalse(plain.hasSequences());
    Sequence sequence = adder.sequence(1);
    Sequence through = around.sequence("a name");
    assertEquals(1, add(sequence.newRequest()));
    assertEquals(1, add(through.newRequest()));
    Thread close = Thread.ofVirtual().start(own::close);
    await(() -> plain.state() == ModelState.UNLOADED, "the end of what has no sequences");
    assertFails(StatusCode.UNAVAILABLE, plain::newRequest);
    assertFails(StatusCode.UNAVAILABLE, () -> add(adder.sequence(2).newRequest()));
    assertFails(StatusCode.UNAVAILABLE, () -> add(around.sequence(2).newRequest()));
    assertEquals(2, add(sequence.newRequest()));
    assertEquals(2, add(through.newRequest()));
    assertTrue(close.isAlive());
    assertEquals(3, add(sequence.lastRequest()));
    assertEquals(3, add(through.lastRequest()));
    close.join();
    assertEquals(ModelState.UNLOADED, adder.state());
    assertEquals(2, adder.statistics().sequences().orElseThrow().ended());
  }

  @Test
  void idleTimeEndsThemAsWell() {
    Model adder = nereid.load(adder(Duration.ofMillis(20)).build());
    assertEquals(1, add(adder.sequence(1).newRequest()));
    assertTrue(nereid.finishSequences(PATIENCE));
    assertEquals(1, adder.statistics().sequences().orElseThrow().idleEnded());
    assertEquals(ModelState.READY, adder.state());
  }

  /** A drain timeout of an hour would show. */
  @Test
  void aSecondWaitReturnsAtOnce() {
    try (Nereid patient =
        Nereid.create(NereidOptions.builder().drainTimeout(Duration.ofHours(1)).build())) {
      Model adder = patient.load(adder(Duration.ofHours(2)).build());
      assertEquals(1, add(adder.sequence(1).newRequest()));
      assertFalse(patient.finishSequences(Duration.ZERO));
      assertFails(StatusCode.UNAVAILABLE, () -> add(adder.sequence(2).newRequest()));
      Model again = patient.load(adder("later", Duration.ofHours(2)).build());
      assertFails(StatusCode.UNAVAILABLE, () -> add(again.sequence(2).newRequest()));
    }
  }
}
