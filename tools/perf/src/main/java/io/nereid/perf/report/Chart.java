package io.nereid.perf.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Draws lines and bars over axes, in the colours of the page: classes {@code c0} to {@code c4} for
 * series, so that one drawing suits light and dark.
 */
public final class Chart {

  private static final double WIDTH = 760;
  private static final double HEIGHT = 320;
  private static final double LEFT = 64;
  private static final double RIGHT = WIDTH - 96;
  private static final double TOP = 16;
  private static final double BOTTOM = HEIGHT - 44;
  private static final double NAME_HEIGHT = 14;

  private final Svg svg;

  private Chart(String description) {
    svg = new Svg(WIDTH, HEIGHT, description);
  }

  /** A value at a place; the text is shown when it is pointed at. */
  public record Point(double x, double y, String text) {}

  /** Points that belong together. */
  public record Series(String name, List<Point> points) {
    private Point last() {
      return points.get(points.size() - 1);
    }
  }

  /**
   * A bar, from the bottom to the top; the name stands below.
   *
   * @param texts what is shown when its parts are pointed at
   */
  public record Bar(String name, List<Double> parts, List<String> texts) {}

  /**
   * The values measured at a place, from the least to the most; the text is shown when pointed at.
   */
  public record Spread(double x, double low, double middle, double high, String text) {}

  /** Points with their spread over logarithmic axes, and a limit that is named. */
  public static String limited(
      String description,
      String xName,
      String yName,
      double limit,
      String limitName,
      List<Spread> spreads) {
    List<Spread> byX = spreads.stream().sorted(Comparator.comparingDouble(Spread::x)).toList();
    double leastX = byX.get(0).x();
    double leastY = Math.min(limit, byX.stream().mapToDouble(Spread::low).min().orElse(limit));
    double mostY = Math.max(limit, byX.stream().mapToDouble(Spread::high).max().orElse(limit));
    Chart chart = new Chart(description);
    Axis x = new Axis(leastX, Math.max(byX.get(byX.size() - 1).x(), leastX * 2), true, LEFT, RIGHT);
    Axis y = Axis.logarithmic(leastY, mostY, BOTTOM, TOP);
    chart.yAxis(y, yName);
    chart.xAxis(x, xName, byX.stream().map(Spread::x).distinct().toList());
    double place = y.place(limit);
    chart.svg.line("limit", LEFT, place, RIGHT, place);
    chart.svg.text("name", RIGHT + 9, place + 4, "start", limitName);
    for (Spread spread : byX) {
      double at = x.place(spread.x());
      chart.svg.line("whisker", at, y.place(spread.low()), at, y.place(spread.high()));
    }
    List<Point> points =
        byX.stream().map(one -> new Point(one.x(), one.middle(), one.text())).toList();
    chart.line(x, y, new Series("", points), 0);
    return chart.svg.toString();
  }

  /** Lines over an axis that begins at 0 or, for loads that grow by factors, is logarithmic. */
  public static String lines(
      String description, String xName, String yName, boolean logX, List<Series> series) {
    return lines(description, xName, yName, logX, true, series);
  }

  /** Lines over axes that begin at 0, for values of which 0 is one. */
  public static String linear(String description, String xName, String yName, List<Series> series) {
    return lines(description, xName, yName, false, false, series);
  }

  /** Lines over axes that begin at 0 or, each as it is said, are logarithmic. */
  public static String lines(
      String description,
      String xName,
      String yName,
      boolean logX,
      boolean logY,
      List<Series> series) {
    List<Point> all = series.stream().flatMap(one -> one.points().stream()).toList();
    double leastX = all.stream().mapToDouble(Point::x).min().orElse(1);
    double mostX = all.stream().mapToDouble(Point::x).max().orElse(1);
    double leastY = all.stream().mapToDouble(Point::y).filter(y -> y > 0).min().orElse(1);
    double mostY = all.stream().mapToDouble(Point::y).max().orElse(1);
    Chart chart = new Chart(description);
    Axis x =
        logX
            ? new Axis(leastX, Math.max(mostX, leastX * 2), true, LEFT, RIGHT)
            : Axis.linear(mostX, LEFT, RIGHT);
    Axis y = logY ? Axis.logarithmic(leastY, mostY, BOTTOM, TOP) : Axis.linear(mostY, BOTTOM, TOP);
    chart.yAxis(y, yName);
    List<Double> ticks =
        logX ? series.get(0).points().stream().map(Point::x).distinct().toList() : x.ticks();
    chart.xAxis(x, xName, ticks);
    for (int i = 0; i < series.size(); i++) {
      chart.line(x, y, series.get(i), i);
    }
    chart.names(x, y, series);
    return chart.svg.toString();
  }

  /**
   * Points over axes that begin at 0, the one of x being logarithmic, with nothing between them.
   */
  public static String points(String description, String xName, String yName, List<Series> series) {
    List<Point> all = series.stream().flatMap(one -> one.points().stream()).toList();
    double leastX = all.stream().mapToDouble(Point::x).min().orElse(1);
    double mostX = all.stream().mapToDouble(Point::x).max().orElse(1);
    Chart chart = new Chart(description);
    Axis x = Axis.logarithmic(leastX, mostX, LEFT, RIGHT);
    Axis y = Axis.linear(all.stream().mapToDouble(Point::y).max().orElse(1), BOTTOM, TOP);
    chart.yAxis(y, yName);
    chart.xAxis(x, xName, x.ticks());
    for (int i = 0; i < series.size(); i++) {
      chart.dots(x, y, series.get(i), i);
    }
    return chart.svg.toString();
  }

  /** Bars of parts that lie one on the other. */
  public static String bars(String description, String yName, List<Bar> bars) {
    double most =
        bars.stream()
            .mapToDouble(bar -> bar.parts().stream().mapToDouble(Double::doubleValue).sum())
            .max()
            .orElse(1);
    Chart chart = new Chart(description);
    Axis y = Axis.linear(most, BOTTOM, TOP);
    chart.yAxis(y, yName);
    double place = (RIGHT - LEFT) / Math.max(1, bars.size());
    double width = Math.min(48, place * 0.6);
    for (int i = 0; i < bars.size(); i++) {
      chart.bar(y, bars.get(i), LEFT + place * (i + 0.5), width);
    }
    return chart.svg.toString();
  }

  /** Groups of bars, whose parts stand side by side; the series that these belong to are named. */
  public static String groups(
      String description, String yName, List<String> series, List<Bar> groups) {
    double most =
        groups.stream()
            .flatMap(one -> one.parts().stream())
            .mapToDouble(one -> one)
            .max()
            .orElse(1);
    Chart chart = new Chart(description);
    Axis y = Axis.linear(most, BOTTOM, TOP);
    chart.yAxis(y, yName);
    double place = (RIGHT - LEFT) / Math.max(1, groups.size());
    double width = Math.min(48, place * 0.7 / series.size());
    for (int i = 0; i < groups.size(); i++) {
      Bar group = groups.get(i);
      double middle = LEFT + place * (i + 0.5);
      double left = middle - width * series.size() / 2;
      for (int part = 0; part < series.size(); part++) {
        double top = y.place(group.parts().get(part));
        String text = group.name() + ", " + series.get(part) + ": " + group.texts().get(part);
        chart.svg.rect("bar c" + part, left + width * part, top, width - 1, BOTTOM - top, text);
      }
      chart.svg.text("tick", middle, BOTTOM + 18, "middle", group.name());
    }
    for (int i = 0; i < series.size(); i++) {
      chart.svg.rect("bar c" + i, RIGHT + 9, TOP + NAME_HEIGHT * i, 8, 8, "");
      chart.svg.text("name", RIGHT + 21, TOP + NAME_HEIGHT * i + 8, "start", series.get(i));
    }
    return chart.svg.toString();
  }

  private void yAxis(Axis y, String name) {
    for (double tick : y.ticks()) {
      svg.line("grid", LEFT, y.place(tick), RIGHT, y.place(tick));
      svg.text("tick", LEFT - 8, y.place(tick) + 4, "end", Axis.label(tick));
    }
    svg.upwardText("tick", 14, (TOP + BOTTOM) / 2, name);
  }

  private void xAxis(Axis x, String name, List<Double> ticks) {
    double last = Double.NEGATIVE_INFINITY;
    for (double tick : ticks) {
      double place = x.place(tick);
      if (place - last < 32) {
        continue; // the labels would lie over each other
      }
      last = place;
      svg.text("tick", place, BOTTOM + 18, "middle", Axis.label(tick));
    }
    svg.text("tick", (LEFT + RIGHT) / 2, HEIGHT - 6, "middle", name);
  }

  private void line(Axis x, Axis y, Series series, int colour) {
    StringBuilder path = new StringBuilder();
    for (Point point : series.points()) {
      path.append(path.isEmpty() ? 'M' : 'L')
          .append(String.format(Locale.ROOT, "%.1f %.1f ", x.place(point.x()), y.place(point.y())));
    }
    svg.path("line c" + colour, path.toString().strip());
    dots(x, y, series, colour);
  }

  private void dots(Axis x, Axis y, Series series, int colour) {
    for (Point point : series.points()) {
      svg.dot("dot c" + colour, x.place(point.x()), y.place(point.y()), 4, point.text());
    }
  }

  /** Beside the ends of the lines, moved apart where these are near to each other. */
  private void names(Axis x, Axis y, List<Series> series) {
    List<Series> fromTop =
        series.stream().sorted(Comparator.comparingDouble(one -> -one.last().y())).toList();
    double free = BOTTOM - NAME_HEIGHT * (fromTop.size() - 1);
    double lowest = Double.NEGATIVE_INFINITY;
    for (Series one : fromTop) {
      Point last = one.last();
      double place = Math.max(lowest, Math.min(y.place(last.y()), free));
      svg.text("name", x.place(last.x()) + 9, place + 4, "start", one.name());
      lowest = place + NAME_HEIGHT;
      free += NAME_HEIGHT;
    }
  }

  private void bar(Axis y, Bar bar, double middle, double width) {
    double sum = 0;
    for (int i = 0; i < bar.parts().size(); i++) {
      double part = bar.parts().get(i);
      double top = y.place(sum + part);
      double height = Math.max(0, y.place(sum) - top - 1); // a gap between the parts
      svg.rect(
          "bar c" + i,
          middle - width / 2,
          top,
          width,
          height,
          bar.name() + ", " + bar.texts().get(i));
      sum += part;
    }
    svg.text("tick", middle, BOTTOM + 18, "middle", bar.name());
  }
}
