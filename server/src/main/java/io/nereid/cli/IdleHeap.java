package io.nereid.cli;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * Has the collector give back, when the server has nothing to do, what the heap grew to under load:
 * a collector that is not asked keeps it until it is full again. One thread looks now and then.
 */
final class IdleHeap {

  private static final Duration LOOK = Duration.ofSeconds(30);

  /** A process that takes less of a processor is idle: probes and metrics take less. */
  private static final double IDLE_PART = 0.02;

  /** Processor time that must have gone by since the last collection for another one to pay. */
  private static final long WORTH_NS = Duration.ofSeconds(1).toNanos();

  private long lookedNs;
  private long lookedCpuNs;
  private long collectedCpuNs;

  /** Begins to look. Times are the clock's and the process's own, in nanoseconds. */
  IdleHeap(long nowNs, long cpuNs) {
    lookedNs = nowNs;
    lookedCpuNs = cpuNs;
  }

  /** Whether the process was idle since the last look, and has worked since it was told so. */
  boolean isDue(long nowNs, long cpuNs) {
    boolean idle = cpuNs - lookedCpuNs < IDLE_PART * (nowNs - lookedNs);
    lookedNs = nowNs;
    lookedCpuNs = cpuNs;
    if (!idle || cpuNs - collectedCpuNs < WORTH_NS) {
      return false;
    }
    collectedCpuNs = cpuNs;
    return true;
  }

  /** Looks for as long as the process lives. */
  static void watch() {
    Thread.ofPlatform().daemon().name("nrd-idle").start(IdleHeap::run);
  }

  private static void run() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    IdleHeap heap = new IdleHeap(System.nanoTime(), system.getProcessCpuTime());
    try {
      while (true) {
        Thread.sleep(LOOK);
        if (heap.isDue(System.nanoTime(), system.getProcessCpuTime())) {
          System.gc();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // whoever interrupts it wants it to end
    }
  }
}
