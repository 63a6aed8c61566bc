package io.nereid.server.shared;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Utilization of the machine's processors. One for the process, because the JVM measures it between
 * two calls, whoever makes them.
 */
public final class CpuLoad {

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  // Guarded by the class.
  private static double last;
  private static long lastNs;
  private static boolean known;

  private CpuLoad() {}

  /** From 0 to 1, measured at most so long ago. */
  public static synchronized double measured(long agoNs) {
    long nowNs = System.nanoTime();
    if (!known || nowNs - lastNs >= agoNs) {
      last = Math.clamp(SYSTEM.getCpuLoad(), 0, 1); // negative where it is not known
      lastNs = nowNs;
      known = true;
    }
    return last;
  }
}
