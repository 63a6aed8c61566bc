package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.internal.cuda.PageKeeper;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The pool when its memory runs out. */
class PoolTest extends RuntimeTest {

  private static final long LIMIT = 8 << 20;

  @Override
  NereidOptions.Builder options() {
    return super.options().poolByteLimit(LIMIT);
  }

  private Model wide() {
    return nereid.load(
        ModelSpec.builder("wide")
            .backend("identity")
            .input("IN", DataType.UINT8, -1)
            .output("OUT", DataType.UINT8, -1)
            .build());
  }

  @Test
  void withoutADeadlineAnExhaustedPoolRefusesAtOnce() {
    Model model = wide();
    assertEquals(LIMIT, nereid.poolStatistics().byteLimit());
    try (var first = model.newRequest();
        var second = model.newRequest()) {
      first.allocateInput("IN", 5 << 20);
      long before = System.nanoTime();
      assertFails(StatusCode.RESOURCE_EXHAUSTED, () -> second.allocateInput("IN", 5 << 20));
      assertTrue(System.nanoTime() - before < PATIENCE.toNanos());
      assertEquals(1, nereid.poolStatistics().failures());
      second.allocateInput("IN", 1); // the refused input can still be given
    }
  }

  @Test
  void withADeadlineItIsWaitedFor() throws Exception {
    Model model = wide();
    InferRequest first = model.newRequest();
    first.allocateInput("IN", 5 << 20);
    Failures failures = new Failures();
    Thread waiting =
        failures.startVirtual(() -> {
          try (var request = model.newRequest().deadline(PATIENCE)) {
            request.allocateInput("IN", 5 << 20);
          }
        });
    await(() -> nereid.poolStatistics().failures() > 0, "the pool to be exhausted");
    first.close();
    failures.join(waiting);
  }

  @Test
  void butNotBeyondIt() {
    Model model = wide();
    try (var first = model.newRequest();
        var second = model.newRequest().deadline(Duration.ofMillis(20))) {
      first.allocateInput("IN", 5 << 20);
      assertFails(StatusCode.DEADLINE_EXCEEDED, () -> second.allocateInput("IN", 5 << 20));
    }
  }

  @Test
  void noCallWaitsForMoreThanThePoolHolds() {
    Model model = wide();
    try (var request = model.newRequest().deadline(PATIENCE.multipliedBy(10))) {
      assertFails(StatusCode.RESOURCE_EXHAUSTED, () -> request.allocateInput("IN", LIMIT + 1));
    }
  }

  @Test
  void aBackendThatFindsNoMemoryFailsItsBatchOnly() {
    Model model =
        nereid.load(
            ModelSpec.builder("copying")
                .backend(context -> batch -> batch.output("OUT", batch.input("IN")))
                .input("IN", DataType.UINT8, -1)
                .output("OUT", DataType.UINT8, -1)
                .build());
    try (var request = model.newRequest()) {
      request.allocateInput("IN", 5 << 20);
      assertFails(StatusCode.RESOURCE_EXHAUSTED, request::infer);
    }
    try (var request = model.newRequest()) {
      request.allocateInput("IN", 1 << 20);
      request.infer().close();
    }
  }

  @Test
  void anAllocatorOfOnesOwnIsAskedAndMayRefuse() {
    CountingAllocator allocator = new CountingAllocator();
    try (Nereid own = Nereid.create(options().build(), allocator.address(), PageKeeper.CUDA)) {
      Model model = own.load(identity("m").build());
      roundTrip(model, 1);
      assertTrue(allocator.allocated() > 0);
      allocator.refuse();
      Model wide = own.load(identity("wide").maxBatchSize(1 << 20).build());
      try (var request = wide.newRequest()) {
        assertFails(StatusCode.RESOURCE_EXHAUSTED, () -> request.allocateInput("IN", 600_000, 4));
      }
      roundTrip(model, 2);
    }
    assertEquals(allocator.allocated(), allocator.deallocated());
  }
}
