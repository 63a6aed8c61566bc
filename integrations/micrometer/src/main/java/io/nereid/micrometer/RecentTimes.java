package io.nereid.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Model;
import io.nereid.statistics.Histogram;
import java.time.Duration;

/** The distribution of a model's request times in the last minute, or in up to two. */
final class RecentTimes {

  private static final long MINUTE_NS = Duration.ofMinutes(1).toNanos();

  private final Model model;

  /** The counts at the start of the window that is one to two minutes long. */
  @GuardedBy("this")
  private Histogram begin;

  /** The counts at the start of the next window. */
  @GuardedBy("this")
  private Histogram next;

  @GuardedBy("this")
  private long nextNs;

  RecentTimes(Model model) {
    this.model = model;
    begin = model.statistics().totalHistogram();
    next = begin;
    nextNs = System.nanoTime();
  }

  synchronized double percentileNs(double percent) {
    Histogram now = model.statistics().totalHistogram();
    if (System.nanoTime() - nextNs > MINUTE_NS) {
      begin = next;
      next = now;
      nextNs = System.nanoTime();
    }
    return now.since(begin).percentileNs(percent);
  }
}
