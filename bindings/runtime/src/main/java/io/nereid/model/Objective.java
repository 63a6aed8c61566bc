package io.nereid.model;

import io.nereid.internal.Checks;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The time in which a model is to answer: {@code percentile} percent of its answers come within
 * {@code latency}, with as many answers as possible. The runtime chooses batches and waiting times
 * accordingly, and refuses requests at once that cannot be answered in time.
 *
 * @param percentile from 50 to 99.9, with at most one digit behind the point
 * @param latency from when a request is sent to its answer, more than nothing and at most an hour
 */
public record Objective(double percentile, Duration latency) {

  private static final Duration MOST = Duration.ofHours(1);

  /** Such as {@code p99 20ms} or {@code p99.9:1.5ms}. */
  private static final Pattern TEXT =
      Pattern.compile("p(\\d{2}(?:\\.\\d)?)(?:\\s+|:)(\\d{1,13}(?:\\.\\d{1,9})?)\\s?(ns|us|ms|s)");

  /** Checks the values. */
  public Objective {
    if (!(percentile >= 50 && percentile <= 99.9)
        || percentile * 10 != Math.rint(percentile * 10)) {
      throw new IllegalArgumentException(
          "expected an objective's percentile from 50 to 99.9, with one digit behind the point at"
              + " most, got "
              + percentile);
    }
    if (Checks.notNull(latency, "latency").compareTo(Duration.ZERO) <= 0
        || latency.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(
          "expected an objective's latency of more than nothing and at most 1 h, got " + latency);
    }
  }

  /** An objective with the 99th percentile. */
  public static Objective p99(Duration latency) {
    return new Objective(99, latency);
  }

  /**
   * Reads a text such as {@code p99 20ms}; a colon may stand in place of the blank.
   *
   * @throws IllegalArgumentException the text is no objective
   */
  public static Objective parse(String text) {
    Matcher matcher = TEXT.matcher(Checks.notNull(text, "text").strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "expected an objective such as \"p99 20ms\", a percentile from p50 to p99.9 and a time in"
              + " ns, us, ms or s, got \""
              + text
              + "\"");
    }
    BigDecimal nanos = new BigDecimal(matcher.group(2)).movePointRight(digits(matcher.group(3)));
    Duration latency =
        nanos.compareTo(BigDecimal.valueOf(MOST.toNanos())) > 0
            ? MOST.plusNanos(1) // the constructor refuses this
            : Duration.ofNanos(nanos.setScale(0, RoundingMode.DOWN).longValue());
    try {
      return new Objective(Double.parseDouble(matcher.group(1)), latency);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "expected an objective from p50 to p99.9 and from 1ns to 3600s, got \"" + text + "\"");
    }
  }

  /** Returns the number of digits of nanoseconds that a unit has. */
  private static int digits(String unit) {
    return switch (unit) {
      case "s" -> 9;
      case "ms" -> 6;
      case "us" -> 3;
      default -> 0;
    };
  }

  /** The text that {@link #parse} reads, such as {@code p99 20ms}. */
  public String text() {
    String percent = BigDecimal.valueOf(percentile).stripTrailingZeros().toPlainString();
    long nanos = latency.toNanos();
    String time =
        nanos % 1_000_000_000 == 0
            ? nanos / 1_000_000_000 + "s"
            : nanos % 1_000_000 == 0
                ? nanos / 1_000_000 + "ms"
                : nanos % 1_000 == 0 ? nanos / 1_000 + "us" : nanos + "ns";
    return "p" + percent + " " + time;
  }
}
