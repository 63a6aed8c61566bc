package io.nereid.server.http;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps one carrier of virtual threads free of executions: a model that turns out slow holds the
 * carrier on which a request executes inline, and with the last one everybody would wait. All
 * threads that serve requests share it.
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

  /** The execution is over, or the thread waits for one elsewhere. */
  static void leave() {
    LEFT.incrementAndGet();
  }
}
