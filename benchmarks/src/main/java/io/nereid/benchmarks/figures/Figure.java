package io.nereid.benchmarks.figures;

import io.nereid.perf.report.Chart;
import io.nereid.perf.report.Chart.Bar;
import io.nereid.perf.report.Chart.Point;
import io.nereid.perf.report.Chart.Series;
import io.nereid.perf.report.Svg;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measured values with what a drawing of them needs: a text of lines {@code key: value}, an empty
 * line, and rows of which the first column is the place on the x axis, or the name of a group of
 * bars, and each further one belongs to a series.
 *
 * @param head what the lines before the rows say, by their keys
 * @param rows the rows' columns
 */
record Figure(Map<String, String> head, List<List<String>> rows) {

  private static final String COLUMN = " *[|] *";

  static Figure parse(String text) {
    String[] parts = text.split("\n\n", 2);
    Map<String, String> head =
        parts[0]
            .lines()
            .map(line -> line.split(": ", 2))
            .collect(Collectors.toMap(line -> line[0], line -> line[1]));
    return new Figure(head, parts[1].lines().map(line -> List.of(line.split(COLUMN))).toList());
  }

  /** A drawing that is a file by itself. */
  String svg() {
    String drawing =
        switch (head.get("chart")) {
          case "bars" -> Chart.groups(title(), head.get("y"), series(), bars());
          case "lines" ->
              Chart.lines(
                  title(), head.get("x"), head.get("y"), isLog("x"), isLog("y"), allPoints());
          default ->
              throw new IllegalArgumentException(
                  "expected bars or lines, got " + head.get("chart"));
        };
    return Svg.file(drawing);
  }

  private String title() {
    return head.get("about") + "; " + head.get("client") + "; " + head.get("machine");
  }

  private List<String> series() {
    return List.of(head.get("series").split(COLUMN));
  }

  private boolean isLog(String axis) {
    return head.getOrDefault("log", "").contains(axis);
  }

  private List<Bar> bars() {
    return rows.stream()
        .map(row -> {
          List<String> values = row.subList(1, row.size());
          return new Bar(row.getFirst(), values.stream().map(Double::valueOf).toList(), values);
        })
        .toList();
  }

  private List<Series> allPoints() {
    List<String> names = series();
    return IntStream.range(0, names.size())
        .mapToObj(i -> new Series(names.get(i), points(row -> row.get(i + 1))))
        .toList();
  }

  private List<Point> points(Function<List<String>, String> value) {
    List<Point> points = new ArrayList<>();
    for (List<String> row : rows) {
      String text = value.apply(row);
      points.add(
          new Point(
              Double.parseDouble(row.getFirst()),
              Double.parseDouble(text),
              row.getFirst() + ": " + text));
    }
    return points;
  }
}
