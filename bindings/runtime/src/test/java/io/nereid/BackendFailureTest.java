package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.model.Backend;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** A backend's exception is the cause of the exceptions that its callers get. */
class BackendFailureTest extends RuntimeTest {

  private static final RuntimeException BROKEN = new QuietException("broken");

  private static Backend failing(RuntimeException failure) {
    return context ->
        batch -> {
          if (batch.input("IN").floatAt(0) < 0) {
            throw failure;
          }
          batch.output("OUT", batch.input("IN"));
        };
  }

  @Test
  void theCauseIsThereHoweverTheRequestWasSent() throws Exception {
    Model model = nereid.load(identity("m").inline(false).backend(failing(BROKEN)).build());
    try (var request = model.newRequest().input("IN", row(-1))) {
      assertSame(BROKEN, assertFails(StatusCode.INTERNAL, request::infer).getCause());
    }
    try (var request = model.newRequest().input("IN", row(-1))) {
      var e = assertThrows(ExecutionException.class, () -> request.inferAsync().get());
      assertSame(BROKEN, e.getCause().getCause());
    }
    try (var request = model.newRequest().input("IN", row(-1));
        var stream = request.inferStream()) {
      assertSame(BROKEN, assertFails(StatusCode.INTERNAL, stream::next).getCause());
    }
    // The record is used again, by requests that have another reason to fail or none.
    for (int i = 0; i < 3; i++) {
      roundTrip(model, 1);
      try (var request = model.newRequest().input("IN", floats(1, 2, 3, 4, 5, 6, 7, 8))) {
        request.infer().close();
      }
    }
    try (var request = model.newRequest().input("IN", Tensor.ofFloats(new float[3], 1, 3))) {
      assertNull(assertFails(StatusCode.INVALID_ARGUMENT, request::infer).getCause());
    }
  }

  @Test
  void aFailureWithACodeKeepsItAndIsTheCause() {
    NereidException busy = new NereidException(StatusCode.UNAVAILABLE, "busy");
    Model model = nereid.load(identity("m").backend(failing(busy)).build());
    try (var request = model.newRequest().input("IN", row(-1))) {
      NereidException e = assertFails(StatusCode.UNAVAILABLE, request::infer);
      assertEquals("busy", e.getMessage());
      assertSame(busy, e.getCause());
    }
  }

  @Test
  void aLoadThatFailsHasItsCause() {
    Backend broken =
        context -> {
          throw BROKEN;
        };
    NereidException e =
        assertFails(StatusCode.INTERNAL, () -> nereid.load(identity("m").backend(broken).build()));
    assertSame(BROKEN, e.getCause());
  }

  /** The step's backend also sees whose request it is: the ensemble's. */
  @Test
  void aStepOfAnEnsembleFailsAndKnowsItsRequest() {
    Backend step =
        context ->
            batch -> {
              if (!batch.request(0).id().equals(Optional.of("seven"))
                  || !batch.request(0).parameters().equals(Map.of("k", 1L))) {
                throw new AssertionError(
                    batch.request(0).id() + " " + batch.request(0).parameters());
              }
              failing(BROKEN).open(context).execute(batch);
            };
    nereid.load(identity("step").backend(step).build());
    Model ensemble = nereid.load(ensembleOf("step"));
    try (var first = ensemble.newRequest().id("another")) {
      first.allocateInput("IN", 1, 4);
      callWithId(ensemble);
    }
  }

  private static void callWithId(Model ensemble) {
    for (int i = 0; i < 2; i++) {
      try (var request = ensemble.newRequest().input("IN", row(1)).id("seven").parameter("k", 1L);
          var response = request.infer()) {
        assertEquals(1f, response.output("OUT").floatAt(0));
      }
      try (var request =
          ensemble.newRequest().input("IN", row(-1)).id("seven").parameter("k", 1L)) {
        assertSame(BROKEN, assertFails(StatusCode.INTERNAL, request::infer).getCause());
      }
    }
  }

  @Test
  void anUnknownStepIsNoModel() {
    NereidException e =
        assertFails(StatusCode.UNAVAILABLE, () -> nereid.load(ensembleOf("nobody")));
    assertEquals(
        "step 'nobody' has no version that is ready: there is no such model", e.getMessage());
  }

  @Test
  void theCodeIsInTheText() {
    assertEquals(
        "io.nereid.types.NereidException: UNAVAILABLE: busy",
        new NereidException(StatusCode.UNAVAILABLE, "busy").toString());
  }

  private static ModelSpec ensembleOf(String step) {
    return ModelSpec.builder("chain")
        .maxBatchSize(8)
        .input("IN", DataType.FP32, 4)
        .output("OUT", DataType.FP32, 4)
        .ensemble(
            new Ensemble(
                List.of(
                    new Ensemble.Step(
                        step, OptionalLong.empty(), Map.of("IN", "IN"), Map.of("OUT", "OUT")))))
        .build();
  }
}
