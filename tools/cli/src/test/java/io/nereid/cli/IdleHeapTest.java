package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When the heap is asked to shrink, on a clock of the test's own. */
final class IdleHeapTest {

  private final IdleHeap heap = new IdleHeap(0, seconds(0));
  private long now;

  @Test
  void afterTheStartOnceWhenItIsIdle() {
    assertFalse(look(1.5), "it starts");
    assertTrue(look(1.6), "it is idle, and the start was work");
    assertFalse(look(1.7), "nothing was done since");
  }

  @Test
  void neverUnderLoadAndOnceAfterIt() {
    assertFalse(look(20));
    assertFalse(look(45));
    assertTrue(look(45.1));
    assertFalse(look(45.2));
    assertFalse(look(60), "load again");
    assertTrue(look(60.1));
  }

  @Test
  void notForProbesAndMetrics() {
    look(2);
    assertTrue(look(2.1));
    for (double cpu = 2.2; cpu < 3; cpu += 0.1) {
      assertFalse(look(cpu));
    }
  }

  /** Looks half a minute later, when the process has used so much processor time. */
  private boolean look(double cpuSeconds) {
    now += seconds(30);
    return heap.isDue(now, seconds(cpuSeconds));
  }

  private static long seconds(double seconds) {
    return (long) (seconds * Duration.ofSeconds(1).toNanos());
  }
}
