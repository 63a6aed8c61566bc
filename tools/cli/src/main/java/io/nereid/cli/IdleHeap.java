package io.nereid.cli;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.time.Duration;

/**
 * Has the collector keep the heap small. When the server has nothing to do, it gives back what the
 * heap grew to under load. While it works, the serial collector looks through its old objects once
 * they have grown: not asked, it lets them grow until the heap is full, and a thousand connections
 * that come and go leave 60 MB. One thread looks.
 */
final class IdleHeap {

  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int LOOKS_FOR_IDLE = 30;

  /** Old objects may become half as many bytes again, and so many more. */
  private static final long GROWTH_BYTES = 32L << 20;

  /** Collections of old objects take 1 of so many parts of the time at most. */
  private static final int PAUSE_PARTS = 20;

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

  /** True if the process was idle since the last look, and has worked since it was told so. */
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
    MemoryPoolMXBean old =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getName().equals("Tenured Gen"))
            .findAny()
            .orElse(null); // another collector, which decides by itself
    if (old != null) {
      allowGrowth(old);
    }
    try {
      long nextNs = System.nanoTime(); // not before it old objects are looked through again
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
      Thread.currentThread().interrupt(); // whoever interrupts it wants it to end
    }
  }

  private static void allowGrowth(MemoryPoolMXBean old) {
    long used = old.getUsage().getUsed();
    long most = old.getUsage().getMax();
    old.setUsageThreshold(Math.min(most, used + used / 2 + GROWTH_BYTES));
  }
}
