package io.nereid.cli;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.time.Duration;

/**
 * Keeps the heap small by garbage collections. An idle server gives back the memory that the heap
 * gained under load. Under load, the serial collector is made to collect old objects once they have
 * grown: by itself it waits until the heap is full, and a thousand short connections leave 60 MB.
 * One thread checks.
 */
final class IdleHeap {

  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int LOOKS_FOR_IDLE = 30;

  /** The allowed growth of old objects, beyond half of their size. */
  private static final long GROWTH_BYTES = 32L << 20;

  /** Collections of old objects take at most this fraction (1/20) of the time. */
  private static final int PAUSE_PARTS = 20;

  /** The share of a processor below which a process is idle; probes and metrics take less. */
  private static final double IDLE_PART = 0.02;

  /** The processor time since the last collection after which another one pays. */
  private static final long WORTH_NS = Duration.ofSeconds(1).toNanos();

  private long lookedNs;
  private long lookedCpuNs;
  private long collectedCpuNs;

  /**
   * Begins to check. The times are the clock's and the process's processor time, in nanoseconds.
   */
  IdleHeap(long nowNs, long cpuNs) {
    lookedNs = nowNs;
    lookedCpuNs = cpuNs;
  }

  /**
   * True if the process was idle since the last check, and has worked since the last collection.
   */
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

  /** Checks periodically, as long as the process lives. */
  static void watch() {
    Thread.ofPlatform().daemon().name("nrd-idle").start(IdleHeap::run);
  }

  private static void run() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    IdleHeap heap = new IdleHeap(System.nanoTime(), system.getProcessCpuTime());
    MemoryPoolMXBean old =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getName().equals("Tenured Gen"))
            .findAny()
            .orElse(null); // another collector, which decides by itself
    if (old != null) {
      allowGrowth(old);
    }
    try {
      long nextNs = System.nanoTime(); // the earliest time of the next collection of old objects
      for (int looks = 1; ; looks++) {
        Thread.sleep(LOOK);
        long nowNs = System.nanoTime();
        boolean idle = looks % LOOKS_FOR_IDLE == 0 && heap.isDue(nowNs, system.getProcessCpuTime());
        if (idle || old != null && old.isUsageThresholdExceeded() && nowNs - nextNs >= 0) {
          System.gc();
          long endNs = System.nanoTime();
          nextNs = endNs + PAUSE_PARTS * (endNs - nowNs);
          if (old != null) {
            allowGrowth(old);
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // an interrupt ends the thread
    }
  }

  private static void allowGrowth(MemoryPoolMXBean old) {
    long used = old.getUsage().getUsed();
    long most = old.getUsage().getMax();
    old.setUsageThreshold(Math.min(most, used + used / 2 + GROWTH_BYTES));
  }
}
