package io.nereid.server.shared;

import com.sun.management.OperatingSystemMXBean;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.types.NereidException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Reports a server's load to clients that choose between servers: an ORCA load report, requested
 * and sent in header fields. Any thread may call.
 */
public final class LoadReport {

  /** The age until which figures of models are reused, however many clients ask. */
  private static final long FRESH_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private record Report(long madeNs, String text, String json) {}

  private final Nereid nereid;
  private final long cpuAgeNs;
  private volatile Report last;

  /**
   * Makes the report of a runtime.
   *
   * @param cpuAge how old the processors' utilization may be
   */
  public LoadReport(Nereid nereid, Duration cpuAge) {
    this.nereid = nereid;
    cpuAgeNs = cpuAge.toNanos();
  }

  /** Returns the report in a format, {@code text} or {@code json}; null for any other. */
  public String in(String format) {
    return switch (format.toLowerCase(Locale.ROOT)) {
      case "text" -> fresh().text;
      case "json" -> fresh().json;
      default -> null;
    };
  }

  private Report fresh() {
    Report report = last;
    if (report == null || System.nanoTime() - report.madeNs >= FRESH_NS) {
      synchronized (this) {
        report = last;
        if (report == null || System.nanoTime() - report.madeNs >= FRESH_NS) {
          report = make();
          last = report;
        }
      }
    }
    return report;
  }

  private Report make() {
    long pending = 0;
    long executing = 0;
    for (Model model : nereid.models()) {
      try {
        if (model.state() == ModelState.READY) {
          ModelStatistics figures = model.statistics();
          pending += figures.pendingCount();
          executing += figures.executingCount();
        }
      } catch (NereidException | IllegalStateException e) {
        // The model was unloaded meanwhile.
      }
    }
    PoolStatistics pool = nereid.poolStatistics();
    long total = SYSTEM.getTotalMemorySize();
    String cpu = part(CpuLoad.measured(cpuAgeNs).machine());
    String memory = part((double) (total - SYSTEM.getFreeMemorySize()) / total);
    String used = part((double) pool.liveBytes() / pool.byteLimit());
    return new Report(
        System.nanoTime(),
        String.format(
            Locale.ROOT,
            "TEXT cpu_utilization=%s, mem_utilization=%s, named_metrics.pending_requests=%d,"
                + " named_metrics.executing_requests=%d, named_metrics.pool_utilization=%s",
            cpu,
            memory,
            pending,
            executing,
            used),
        String.format(
            Locale.ROOT,
            "JSON {\"cpu_utilization\":%s,\"mem_utilization\":%s,\"named_metrics\":"
                + "{\"pending_requests\":%d,\"executing_requests\":%d,\"pool_utilization\":%s}}",
            cpu,
            memory,
            pending,
            executing,
            used));
  }

  private static String part(double value) {
    return String.format(Locale.ROOT, "%.4f", value);
  }
}
