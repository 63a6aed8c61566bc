package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many requests of every kind at once, while models come, go and are replaced. Afterwards no memory
 * of the pool is in use, no handle is alive (both checked by the base class), and the process has
 * not grown. The property {@code nereid.soak.requests} sets how many.
 */
@Tag("slow")
class SoakTest extends RuntimeTest {

  private static final long REQUESTS = Long.getLong("nereid.soak.requests", 1_000_000);
  private static final int VIRTUAL_THREADS = 24;
  private static final int PLATFORM_THREADS = 4;

  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicBoolean done = new AtomicBoolean();

  @Test
  void nothingLeaksAndNothingIsLost() throws Exception {
    nereid.load(identity("steady").build());
    nereid.load(queued());
    nereid.load(identity("slow").inline(false).parameter("execute_delay_ms", "1").build());
    nereid.load(moody());
    Failures failures = new Failures();
    Thread churn = failures.startPlatform(this::churn);
    run(REQUESTS / 3);
    ProcessSize early = ProcessSize.withoutGarbage();
    run(REQUESTS - REQUESTS / 3);
    ProcessSize late = ProcessSize.withoutGarbage();
    done.set(true);
    failures.join(churn);
    System.out.printf(
        "soak: %d requests, %d answered, %d failed as they should; %s, then %s%n",
        REQUESTS, answered.get(), failed.get(), early, late);
    assertTrue(answered.get() > REQUESTS / 2, "only " + answered.get() + " were answered");
    assertTrue(failed.get() > REQUESTS / 20, "only " + failed.get() + " failed");
    // What may grow without being a leak is compiled code, and the part of the heap that is
    // touched.
    String sizes = early + ", then " + late;
    assertTrue(late.heap() - early.heap() < 12 << 20, sizes);
    assertTrue(late.malloc() - early.malloc() < 24 << 20, sizes);
    assertTrue(late.resident() - early.resident() < (32 << 20) + late.committed(), sizes);
  }

  private static ModelSpec queued() {
    return identity("queued")
        .inline(false)
        .instanceCount(2)
        .dynamicBatching(DynamicBatching.builder().preferredBatchSizes(4, 8).build())
        .build();
  }

  /** A Java backend that fails what begins with a negative number. */
  private static ModelSpec moody() {
    return identity("moody")
        .dynamicBatching(DynamicBatching.create())
        .backend(context ->
            batch -> {
              for (int i = 0; i < batch.requestCount(); i++) {
                if (batch.request(i).input("IN").floatAt(0) < 0) {
                  batch.fail(i, StatusCode.FAILED_PRECONDITION, "negative");
                }
              }
              batch.output("OUT", batch.input("IN"));
            })
        .build();
  }

  private void run(long requests) throws Exception {
    AtomicLong remaining = new AtomicLong(requests);
    Failures failures = new Failures();
    Thread[] workers = new Thread[VIRTUAL_THREADS + PLATFORM_THREADS];
    for (int i = 0; i < workers.length; i++) {
      SplittableRandom random = new SplittableRandom(i + requests);
      Failures.Part part =
          () -> {
            while (remaining.getAndDecrement() > 0) {
              one(random);
            }
          };
      workers[i] = i < VIRTUAL_THREADS ? failures.startVirtual(part) : failures.startPlatform(part);
    }
    while (remaining.get() > 0 && !failures.any()) {
      Thread.sleep(10);
    }
    failures.join(workers);
  }

  /** Replaces one model for ever, and loads and unloads another. */
  private void churn() throws Exception {
    while (!done.get()) {
      nereid.load(queued());
      Model model = nereid.load(identity("fickle").version(1).build());
      nereid.load(identity("fickle").version(2).inline(false).build());
      Thread.sleep(5);
      model.unload();
      Thread.sleep(5);
      nereid.model("fickle").unload();
    }
  }

  private void one(SplittableRandom random) throws Exception {
    float value = random.nextInt(1 << 20);
    int kind = random.nextInt(100);
    if (kind < 40) {
      succeeds(nereid.model("steady"), value, 1 + random.nextInt(8));
    } else if (kind < 65) {
      succeeds(nereid.model("queued"), value, 1 + random.nextInt(8));
    } else if (kind < 72) {
      succeeds(nereid.model("moody"), value, 1);
    } else if (kind < 78) {
      fails(nereid.model("moody"), -1 - value, StatusCode.FAILED_PRECONDITION);
    } else if (kind < 82) {
      isInvalid();
    } else if (kind < 88) {
      isCancelled(value, random);
    } else if (kind < 90) {
      isLate(value);
    } else if (kind < 93) {
      isForgotten();
    } else if (kind < 96) {
      isChained(value);
    } else {
      meetsAModelThatComesAndGoes(value);
    }
  }

  private void succeeds(Model model, float value, int rows) {
    try (var request = model.newRequest()) {
      Tensor in = request.allocateInput("IN", rows, 4);
      in.segment().set(JAVA_FLOAT, 0, value);
      in.segment().setAtIndex(JAVA_FLOAT, rows * 4L - 1, -value);
      try (var response = request.infer()) {
        assertEquals(value, response.output("OUT").floatAt(0));
        assertEquals(-value, response.output("OUT").floatAt(rows * 4L - 1));
        answered.incrementAndGet();
      }
    }
  }

  private void fails(Model model, float value, StatusCode code) {
    try (var request = model.newRequest().input("IN", row(value))) {
      assertFails(code, request::infer);
      failed.incrementAndGet();
    }
  }

  private void isInvalid() {
    try (var request =
        nereid.model("steady").newRequest().input("IN", Tensor.ofFloats(new float[5], 5))) {
      assertFails(StatusCode.INVALID_ARGUMENT, request::infer);
      failed.incrementAndGet();
    }
  }

  private void isCancelled(float value, SplittableRandom random) throws Exception {
    try (var request = nereid.model("queued").newRequest().input("IN", row(value))) {
      var future = request.inferAsync();
      if (random.nextBoolean()) {
        Thread.yield();
      }
      if (random.nextBoolean() ? future.cancel(true) : request.cancel()) {
        failed.incrementAndGet();
        return;
      }
      try (InferResponse response = future.get()) {
        assertEquals(value, response.output("OUT").floatAt(0));
        answered.incrementAndGet();
      } catch (ExecutionException e) { // cancelled at the last moment
        assertEquals(StatusCode.CANCELLED, ((NereidException) e.getCause()).code());
        failed.incrementAndGet();
      }
    }
  }

  private void isLate(float value) throws Exception {
    boolean async = value % 2 == 0;
    try (var request =
        nereid
            .model("slow")
            .newRequest()
            .deadline(Duration.ofNanos(200_000))
            .input("IN", row(value))) {
      (async ? request.inferAsync().get() : request.infer()).close();
      answered.incrementAndGet();
    } catch (NereidException e) {
      assertEquals(StatusCode.DEADLINE_EXCEEDED, e.code(), e.getMessage());
      failed.incrementAndGet();
    } catch (ExecutionException e) {
      assertEquals(StatusCode.DEADLINE_EXCEEDED, ((NereidException) e.getCause()).code());
      failed.incrementAndGet();
    }
  }

  private void isForgotten() {
    try (var request = nereid.model("queued").newRequest()) {
      request.allocateInput("IN", 3, 4);
    }
    answered.incrementAndGet();
  }

  private void isChained(float value) {
    try (var second = nereid.model("queued").newRequest()) {
      try (var first = nereid.model("steady").newRequest().input("IN", row(value));
          var response = first.infer()) {
        second.input("IN", response.output("OUT"));
      }
      try (var last = second.infer()) {
        assertEquals(value, last.output("OUT").floatAt(0));
        answered.incrementAndGet();
      }
    }
  }

  private void meetsAModelThatComesAndGoes(float value) {
    try {
      succeeds(nereid.model("fickle"), value, 2);
    } catch (NereidException e) {
      assertTrue(
          e.code() == StatusCode.UNAVAILABLE || e.code() == StatusCode.NOT_FOUND, e.getMessage());
      failed.incrementAndGet();
    }
  }
}
