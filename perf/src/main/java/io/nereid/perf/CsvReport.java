package io.nereid.perf;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A line for each result; empty fields are not known. */
final class CsvReport {

  private CsvReport() {}

  static String of(PerfReport report) {
    StringBuilder csv = new StringBuilder();
    for (LevelResult result : report.results()) {
      Map<String, Object> fields = ResultFields.of(result);
      if (csv.isEmpty()) {
        csv.append(String.join(",", fields.keySet())).append('\n');
      }
      csv.append(fields.values().stream().map(CsvReport::text).collect(Collectors.joining(",")))
          .append('\n');
    }
    return csv.toString();
  }

  private static String text(Object value) {
    return switch (value) {
      case null -> "";
      case Double number -> String.format(Locale.ROOT, "%.3f", number);
      default -> value.toString();
    };
  }
}
