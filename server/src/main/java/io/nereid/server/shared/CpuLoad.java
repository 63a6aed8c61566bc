package io.nereid.server.shared;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The utilization of the machine's processors, from 0 to 1. The process shares one measurement,
 * because the JVM measures from one call to the next, of any caller. Any thread may call.
 *
 * @param machine used by all processes
 * @param process used by this one
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
      // The values are negative if unknown.
      last =
          new CpuLoad(
              Math.clamp(SYSTEM.getCpuLoad(), 0, 1), Math.clamp(SYSTEM.getProcessCpuLoad(), 0, 1));
      lastNs = nowNs;
    }
    return last;
  }
}
