package io.nereid.server.console;

import io.nereid.server.json.JsonBuffer;
import io.nereid.statistics.Histogram;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Forms that values have in all that the pages are told. */
final class ConsoleJson {

  /** The place in a file that a reason names. */
  private static final Pattern PLACE = Pattern.compile("(\\S+?):(\\d{1,9}):(\\d{1,9})(?=[:,; ]|$)");

  private ConsoleJson() {}

  /** Writes one element of a list. */
  interface Element<T> {
    void write(T value);
  }

  static <T> void array(JsonBuffer json, List<T> values, Element<T> element) {
    json.write('[');
    for (Iterator<T> each = values.iterator(); each.hasNext(); ) {
      element.write(each.next());
      if (each.hasNext()) {
        json.write(',');
      }
    }
    json.write(']');
  }

  static JsonBuffer bool(JsonBuffer json, boolean value) {
    return json.ascii(value ? "true" : "false");
  }

  /** A number with a digit behind the point where it needs one; null for none. */
  static JsonBuffer decimal(JsonBuffer json, double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return json.ascii("null");
    }
    double rounded = Math.rint(value * 10) / 10;
    return rounded == Math.rint(rounded) && Math.abs(rounded) < 1e15
        ? json.number((long) rounded)
        : json.ascii(String.format(Locale.ROOT, "%.1f", rounded));
  }

  static JsonBuffer text(JsonBuffer json, String value) {
    return value == null ? json.ascii("null") : json.string(value);
  }

  /** The line that a reason names; null where it names none. */
  static void place(JsonBuffer json, String reason) {
    Matcher found = reason == null ? null : PLACE.matcher(reason);
    if (found == null || !found.find()) {
      json.ascii("null");
      return;
    }
    json.ascii("{\"file\":").string(found.group(1));
    json.ascii(",\"line\":").number(Long.parseLong(found.group(2)));
    json.ascii(",\"column\":").number(Long.parseLong(found.group(3)));
    json.write('}');
  }

  /** A percentile in microseconds; null when there is nothing to tell it from. */
  static double percentileUs(Histogram durations, double percent) {
    return durations.count() == 0 ? Double.NaN : durations.percentileNs(percent) / 1000.0;
  }

  /** Numbers where NaN stands for none. */
  static void numbers(JsonBuffer json, double[] values) {
    json.write('[');
    for (int i = 0; i < values.length; i++) {
      if (i > 0) {
        json.write(',');
      }
      decimal(json, values[i]);
    }
    json.write(']');
  }
}
