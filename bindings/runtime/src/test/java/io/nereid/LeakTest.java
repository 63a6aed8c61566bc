package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** A builder call that throws gives its request back, because nobody else has it. */
class LeakTest extends RuntimeTest {

  private static final int TIMES = 100_000;

  @Test
  void theIdiomWithAWrongNameLeavesNothing() {
    Model model = nereid.load(InferTest.twoOutputs().build());
    Tensor row = row(1);
    for (int i = 0; i < TIMES; i++) {
      try (var request = model.newRequest().input("A", row).input("WRONG", row);
          var response = request.infer()) {
        throw new AssertionError("answered: " + response);
      } catch (NereidException e) {
        assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      }
    }
    assertEquals(0, nereid.poolStatistics().liveBuffers());
  }

  @Test
  void everyBuilderCallThatThrowsGivesTheRequestBack() {
    Model model = nereid.load(InferTest.twoOutputs().build());
    List<Function<InferRequest, InferRequest>> mistakes =
        List.of(
            request -> request.input("WRONG", row(1)),
            request -> request.input("A", row(1)), // the second time
            request -> request.input(null, row(1)),
            request -> request.input("B", null),
            request -> request.output("WRONG"),
            request -> request.output(null),
            request -> request.id(null),
            request -> request.deadline(Duration.ofSeconds(-1)),
            request -> request.deadline(null),
            request -> request.timeout(Duration.ofSeconds(-1)),
            request -> request.priority(-1),
            request -> request.parameter("triton_x", 1),
            request -> request.parameter("k", new Object()),
            request -> request.deviceInput("WRONG", new DeviceMemory(0, 64, 16), () -> {}, 1, 4),
            request -> request.deviceOutput("WRONG", new DeviceMemory(0, 64, 16), () -> {}));
    for (var mistake : mistakes) {
      InferRequest request = model.newRequest().input("A", row(1));
      assertEquals(1, nereid.poolStatistics().liveBuffers());
      assertThrows(RuntimeException.class, () -> mistake.apply(request));
      assertEquals(0, nereid.poolStatistics().liveBuffers());
      assertClosed(() -> request.input("B", row(1)));
    }
  }

  @Test
  void methodsThatReturnNoRequestLeaveItOpen() {
    Model model = nereid.load(InferTest.twoOutputs().build());
    try (var request = model.newRequest().input("A", row(1))) {
      assertThrows(RuntimeException.class, () -> request.allocateInput("WRONG", 1, 4));
      assertFails(StatusCode.INVALID_ARGUMENT, request::infer); // lacks an input
      request.input("B", row(2)).infer().close();
    }
  }

  @Test
  void aNegativeDeadlineIsNamed() {
    Model model = nereid.load(identity("m").build());
    var e =
        assertThrows(
            IllegalArgumentException.class,
            () -> model.newRequest().deadline(Duration.ofMillis(-5)));
    assertEquals("deadline must not be negative, got PT-0.005S", e.getMessage());
    assertTrue(nereid.openHandles().isEmpty(), "nothing is recorded unless asked for");
  }
}
