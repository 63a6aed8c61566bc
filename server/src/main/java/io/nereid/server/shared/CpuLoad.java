package io.nereid.server.shared;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The utilization of the machine's processors, from 0 to 1. There is one measurement for the
 * process, because the JVM measures between two calls, whoever makes them. From any thread.
 *
 * @param machine by all processes
 * @param process by this one
 */
public record CpuLoad(double machine, double process) {

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  @GuardedBy("CpuLoad.class")
  private static CpuLoad last;

  @GuardedBy("CpuLoad.class")
  private static long lastNs;

  /** The load, measured at most so long ago. */
  public static synchronized CpuLoad measured(long agoNs) {
    long nowNs = System.nanoTime();
    if (last == null || nowNs - lastNs >= agoNs) {
      // Negative where it is not known.
      last =
          new CpuLoad(
              Math.clamp(SYSTEM.getCpuLoad(), 0, 1), Math.clamp(SYSTEM.getProcessCpuLoad(), 0, 1));
      lastNs = nowNs;
    }
    return last;
  }
}
