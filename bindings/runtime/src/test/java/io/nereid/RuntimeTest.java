package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;

/** A runtime for each test, which must leave nothing behind: no memory and no handle. */
abstract class RuntimeTest {

  static final Duration PATIENCE = Duration.ofMinutes(1);

  Nereid nereid;

  @BeforeEach
  void openRuntime() {
    nereid = Nereid.create(options().build());
  }

  @AfterEach
  void nothingIsLeft() {
    nereid.models().forEach(Model::unload);
    await(() -> nereid.poolStatistics().liveBytes() == 0, "the pool's memory to come back");
    nereid.close();
    HandleCounts left = HandleCounts.read();
    assertEquals(new HandleCounts(0, 0, 0), left);
  }

  NereidOptions.Builder options() {
    return NereidOptions.builder().drainTimeout(Duration.ofMinutes(1));
  }

  /** FP32 in, FP32 out, four per row, up to eight rows. */
  static ModelSpec.Builder identity(String name) {
    return ModelSpec.builder(name)
        .backend("identity")
        .maxBatchSize(8)
        .input("IN", DataType.FP32, 4)
        .output("OUT", DataType.FP32, 4);
  }

  static Tensor floats(float... values) {
    return Tensor.ofFloats(values, values.length / 4, 4);
  }

  static Tensor row(float first) {
    return floats(first, 2, 3, 4);
  }

  /** Sends a row and checks that the answer is the row. */
  static void roundTrip(Model model, float first) {
    try (var request = model.newRequest().input("IN", row(first));
        var response = request.infer()) {
      assertEquals(first, response.output("OUT").floatAt(0));
    }
  }

  static NereidException assertFails(StatusCode code, Executable call) {
    NereidException e = assertThrows(NereidException.class, call);
    assertEquals(code, e.code(), e.getMessage());
    return e;
  }

  static void assertFails(StatusCode code, String message, Executable call) {
    assertEquals(message, assertFails(code, call).getMessage());
  }

  static void assertClosed(Executable call) {
    assertThrows(IllegalStateException.class, call);
  }

  /** Waits for something that another thread brings about. */
  static void await(BooleanSupplier condition, String what) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "waited in vain for " + what);
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }
}
