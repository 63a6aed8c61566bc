package io.nereid.server.http;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps one carrier of virtual threads free of inline executions: a model that turns out slow
 * blocks its carrier, and without a free one all threads would wait. All threads that serve
 * requests share it.
 */
final class FreeCarrier {

  private static final AtomicInteger LEFT =
      new AtomicInteger(
          Integer.getInteger(
                  "jdk.virtualThreadScheduler.parallelism",
                  Runtime.getRuntime().availableProcessors())
              - 1);

  private FreeCarrier() {}

  /** True if a request may execute on this virtual thread; then {@link #leave} is to follow. */
  static boolean enter() {
    if (LEFT.decrementAndGet() >= 0) {
      return true;
    }
    LEFT.incrementAndGet();
    return false;
  }

  /** Ends what {@link #enter} began: the execution is over, or goes on elsewhere. */
  static void leave() {
    LEFT.incrementAndGet();
  }
}
