package io.nereid.perf;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The measurement of one level of load: the sum of its last windows.
 *
 * @param level the load
 * @param begin when the first of these windows began
 * @param end when the last of them ended
 * @param counts requests, latencies, errors
 * @param rowsPerRequest on average
 * @param windows how many windows there were, in all
 * @param stable whether the last ones agreed
 * @param backlog requests that were due and not sent at the end
 * @param outstanding requests that were not answered at the end
 * @param senders how many requests could be under way
 * @param firstError null: none
 * @param notes remarks for people
 */
record LevelResult(
    LoadLevel level,
    Reading begin,
    Reading end,
    Tally.Counts counts,
    double rowsPerRequest,
    int windows,
    boolean stable,
    long backlog,
    long outstanding,
    int senders,
    String firstError,
    List<String> notes) {

  /** The most seconds that an open loop may be behind its schedule without being overloaded. */
  private static final double MOST_LATE_S = 0.1;

  double seconds() {
    return (end.atNs() - begin.atNs()) / 1e9;
  }

  long requestCount() {
    return counts.latency().getTotalCount();
  }

  double requestsPerSecond() {
    return requestCount() / seconds();
  }

  /** Answers that came within this time. */
  double perSecondWithin(Duration latency) {
    return counts.latency().getCountBetweenValues(0, latency.toNanos()) / seconds();
  }

  /** The rows a second. */
  double rowsPerSecond() {
    return rowsPerRequest * requestsPerSecond();
  }

  double sequencesPerSecond() {
    return counts.sequences() / seconds();
  }

  double responsesPerSecond() {
    return (counts.firstResponse().getTotalCount() + counts.betweenResponses().getTotalCount())
        / seconds();
  }

  double latencyUs(double percentile) {
    return counts.latency().getValueAtPercentile(percentile) / 1e3;
  }

  double meanLatencyUs() {
    return counts.latency().getMean() / 1e3;
  }

  double maxLatencyUs() {
    return counts.latency().getMaxValue() / 1e3;
  }

  double clientCpuUs() {
    return perRequestUs(end.clientCpuNs() - begin.clientCpuNs());
  }

  /** The number of processors that this process kept busy. */
  double clientCores() {
    return (end.clientCpuNs() - begin.clientCpuNs()) / 1e9 / seconds();
  }

  Optional<Double> serverCpuUs() {
    return serverCpuNs().map(this::perRequestUs);
  }

  Optional<Double> serverCores() {
    return serverCpuNs().map(ns -> ns / 1e9 / seconds());
  }

  private Optional<Long> serverCpuNs() {
    return end.serverCpuNs().flatMap(last -> begin.serverCpuNs().map(first -> last - first));
  }

  private double perRequestUs(long ns) {
    long requests = requestCount() + counts.errorCount();
    return requests == 0 ? 0 : ns / 1e3 / requests;
  }

  /** Returns the server's work during the windows; empty if the server has no statistics. */
  Optional<ServerStatistics> server() {
    return end.statistics().flatMap(last -> begin.statistics().map(last::minus));
  }

  /** True if an open loop kept to its schedule. */
  boolean keepsUp() {
    return !level.isOpenLoop() || backlog <= Math.max(1, level.ratePerSecond() * MOST_LATE_S);
  }

  /**
   * The clocks and counters at the edge of a window.
   *
   * @param atNs the time
   * @param clientCpuNs processor time of this process
   * @param serverCpuNs processor time of the server's process; empty: unknown
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
      Optional<ServerStatistics> statistics = control.statistics(); // first, as it takes longest
      return new Reading(
          System.nanoTime(), SYSTEM.getProcessCpuTime(), process.cpuNs(), statistics);
    }
  }
}
