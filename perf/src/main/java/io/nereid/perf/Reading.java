package io.nereid.perf;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * What clocks and counters say at the edge of a window.
 *
 * @param atNs the time
 * @param clientCpuNs CPU of this process, all its threads
 * @param serverCpuNs CPU of the server's; empty: not known
 * @param statistics the server's; empty: it has none
 */
record Reading(
    long atNs,
    long clientCpuNs,
    Optional<Long> serverCpuNs,
    Optional<ServerStatistics> statistics) {

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  static Reading take(ServerControl control, ServerProcess process) {
    Optional<ServerStatistics> statistics = control.statistics(); // first, for it takes longest
    return new Reading(System.nanoTime(), SYSTEM.getProcessCpuTime(), process.cpuNs(), statistics);
  }
}
