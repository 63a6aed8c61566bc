package io.nereid.perf;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Plots as SVG, whose colours are the page's: classes {@code c0} to {@code c4} for series, so that
 * one drawing suits light and dark.
 */
final class SvgChart {

  private static final double WIDTH = 760;
  private static final double HEIGHT = 320;
  private static final double LEFT = 64;
  private static final double RIGHT = WIDTH - 96;
  private static final double TOP = 16;
  private static final double BOTTOM = HEIGHT - 44;
  private static final double NAME_HEIGHT = 14;

  private final StringBuilder svg = new StringBuilder();

  private SvgChart(String description) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">%n",
            WIDTH,
            HEIGHT,
            escaped(description)));
  }

  /** A value at a place; the text is shown when it is pointed at. */
  record Point(double x, double y, String text) {}

  /** Points that belong together. */
  record Series(String name, List<Point> points) {}

  /** A bar, from the bottom to the top; the name stands below. */
  record Bar(String name, List<Double> parts) {}

  /** Lines over an axis that begins at 0 or, for loads that grow by factors, is logarithmic. */
  static String lines(
      String description, String xName, String yName, boolean logX, List<Series> series) {
    List<Point> all = series.stream().flatMap(one -> one.points().stream()).toList();
    double leastX = all.stream().mapToDouble(Point::x).min().orElse(1);
    double mostX = all.stream().mapToDouble(Point::x).max().orElse(1);
    double leastY = all.stream().mapToDouble(Point::y).filter(y -> y > 0).min().orElse(1);
    double mostY = all.stream().mapToDouble(Point::y).max().orElse(1);
    SvgChart chart = new SvgChart(description);
    SvgAxis x =
        logX
            ? new SvgAxis(leastX, Math.max(mostX, leastX * 2), true, LEFT, RIGHT)
            : SvgAxis.linear(mostX, LEFT, RIGHT);
    SvgAxis y = SvgAxis.logarithmic(leastY, mostY, BOTTOM, TOP);
    chart.yAxis(y, yName);
    List<Double> ticks =
        logX ? series.getFirst().points().stream().map(Point::x).distinct().toList() : x.ticks();
    chart.xAxis(x, xName, ticks);
    for (int i = 0; i < series.size(); i++) {
      chart.line(x, y, series.get(i), i);
    }
    chart.names(x, y, series);
    return chart.end();
  }

  /** Stacked bars. */
  static String bars(String description, String yName, List<String> parts, List<Bar> bars) {
    double most =
        bars.stream()
            .mapToDouble(bar -> bar.parts().stream().mapToDouble(Double::doubleValue).sum())
            .max()
            .orElse(1);
    SvgChart chart = new SvgChart(description);
    SvgAxis y = SvgAxis.linear(most, BOTTOM, TOP);
    chart.yAxis(y, yName);
    double slot = (RIGHT - LEFT) / Math.max(1, bars.size());
    double width = Math.min(48, slot * 0.6);
    for (int i = 0; i < bars.size(); i++) {
      chart.bar(y, bars.get(i), parts, LEFT + slot * (i + 0.5), width);
    }
    return chart.end();
  }

  private void yAxis(SvgAxis y, String name) {
    for (double tick : y.ticks()) {
      add(
          "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>%n",
          LEFT, RIGHT, y.place(tick), y.place(tick));
      add(
          "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>%n",
          LEFT - 8, y.place(tick) + 4, SvgAxis.label(tick));
    }
    add(
        "<text class=\"tick\" transform=\"translate(14 %.1f) rotate(-90)\""
            + " text-anchor=\"middle\">%s</text>%n",
        (TOP + BOTTOM) / 2, escaped(name));
  }

  private void xAxis(SvgAxis x, String name, List<Double> ticks) {
    double last = Double.NEGATIVE_INFINITY;
    for (double tick : ticks) {
      double place = x.place(tick);
      if (place - last < 32) {
        continue; // the labels would lie over each other
      }
      last = place;
      add(
          "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>%n",
          place, BOTTOM + 18, SvgAxis.label(tick));
    }
    add(
        "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>%n",
        (LEFT + RIGHT) / 2, HEIGHT - 6, escaped(name));
  }

  private void line(SvgAxis x, SvgAxis y, Series series, int colour) {
    StringBuilder path = new StringBuilder();
    for (Point point : series.points()) {
      path.append(path.isEmpty() ? 'M' : 'L')
          .append(String.format(Locale.ROOT, "%.1f %.1f ", x.place(point.x()), y.place(point.y())));
    }
    add("<path class=\"line c%d\" d=\"%s\"/>%n", colour, path.toString().strip());
    for (Point point : series.points()) {
      add(
          "<circle class=\"dot c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s</title></circle>%n",
          colour, x.place(point.x()), y.place(point.y()), escaped(point.text()));
    }
  }

  /** Beside the ends of the lines, moved apart where these are near to each other. */
  private void names(SvgAxis x, SvgAxis y, List<Series> series) {
    List<Series> fromTop =
        series.stream()
            .sorted(Comparator.comparingDouble(one -> -one.points().getLast().y()))
            .toList();
    double free = BOTTOM - NAME_HEIGHT * (fromTop.size() - 1);
    double lowest = Double.NEGATIVE_INFINITY;
    for (Series one : fromTop) {
      Point last = one.points().getLast();
      double place = Math.max(lowest, Math.min(y.place(last.y()), free));
      add(
          "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
          x.place(last.x()) + 9, place + 4, escaped(one.name()));
      lowest = place + NAME_HEIGHT;
      free += NAME_HEIGHT;
    }
  }

  private void bar(SvgAxis y, Bar bar, List<String> names, double middle, double width) {
    double sum = 0;
    for (int i = 0; i < bar.parts().size(); i++) {
      double part = bar.parts().get(i);
      double top = y.place(sum + part);
      double height = Math.max(0, y.place(sum) - top - 1); // a gap between the parts
      add(
          "<rect class=\"bar c%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
              + "<title>%s, %s: %s us</title></rect>%n",
          i,
          middle - width / 2,
          top,
          width,
          height,
          escaped(bar.name()),
          escaped(names.get(i)),
          TextReport.us(part));
      sum += part;
    }
    add(
        "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>%n",
        middle, BOTTOM + 18, escaped(bar.name()));
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values));
  }

  private String end() {
    return svg.append("</svg>\n").toString();
  }

  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
