package io.nereid.server.console;

import io.nereid.statistics.Histogram;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.jr.ob.JSON;

/**
 * A JSON object for the pages, made member by member. Values are texts, numbers, booleans, lists
 * and other objects; null means absence. For one thread.
 */
final class ConsoleJson extends LinkedHashMap<String, Object> {

  private static final long serialVersionUID = 1L;

  private static final JSON WRITER = JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES);

  /** The place in a file that a reason names. */
  private static final Pattern PLACE = Pattern.compile("(\\S+?):(\\d{1,9}):(\\d{1,9})(?=[:,; ]|$)");

  /** Adds a member. */
  ConsoleJson with(String name, Object value) {
    put(name, value);
    return this;
  }

  /** Adds a number with at most one digit behind the point; NaN becomes null. */
  ConsoleJson decimal(String name, double value) {
    return with(name, rounded(value));
  }

  /** Adds a percentile in microseconds. */
  ConsoleJson percentile(String name, Histogram durations, double percent) {
    return decimal(name, percentileUs(durations, percent));
  }

  /** Adds members with value null. */
  ConsoleJson without(String... names) {
    for (String name : names) {
      put(name, null);
    }
    return this;
  }

  /** The object's text, in UTF-8 on one line. */
  byte[] bytes() {
    return WRITER.asBytes(this);
  }

  private static Number rounded(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return null;
    }
    double rounded = Math.rint(value * 10) / 10;
    if (rounded == Math.rint(rounded) && Math.abs(rounded) < 1e15) {
      return (long) rounded;
    }
    return rounded;
  }

  /** The numbers, with null for NaN. */
  static List<Number> numbers(double[] values) {
    List<Number> numbers = new ArrayList<>(values.length);
    for (double value : values) {
      numbers.add(rounded(value));
    }
    return numbers;
  }

  /** The place in a file that a reason names; null: none. */
  static ConsoleJson place(String reason) {
    Matcher found = reason == null ? null : PLACE.matcher(reason);
    return found == null || !found.find()
        ? null
        : new ConsoleJson()
            .with("file", found.group(1))
            .with("line", Long.valueOf(found.group(2)))
            .with("column", Long.valueOf(found.group(3)));
  }

  /** A percentile in microseconds; NaN without durations. */
  static double percentileUs(Histogram durations, double percent) {
    return durations.count() == 0 ? Double.NaN : durations.percentileNs(percent) / 1000.0;
  }
}
