package io.nereid.benchmarks.compare;

import java.util.List;

/** The ratios of one benchmark in the comparisons that were kept, the latest at the right. */
final class HistoryPlot {

  private static final int MOST_POINTS = 60;
  private static final int LEFT = 50;
  private static final int STEP = 11;
  private static final int HEIGHT = 100;
  private static final int MARGIN = 10;

  private HistoryPlot() {}

  static String of(String title, List<History.Point> all) {
    List<History.Point> points = all.subList(Math.max(0, all.size() - MOST_POINTS), all.size());
    double most = 1.1;
    for (History.Point point : points) {
      most = Math.max(most, Math.max(point.high(), 1 / point.low()));
    }
    most = Math.min(most, 2);
    int width = LEFT + Math.max(20, points.size()) * STEP + MARGIN;
    Svg svg = new Svg(width, HEIGHT + 2 * MARGIN, "history of " + title);
    for (double tick : new double[] {1 / most, 1, most}) {
      double y = y(tick, most);
      svg.line(tick == 1 ? "one" : "grid", LEFT, y, width - MARGIN, y);
      svg.text("tick", LEFT - 6, y + 4, "end", Numbers.format("%.2f", tick));
    }
    double x = LEFT + STEP / 2.0;
    double before = Double.NaN;
    for (History.Point point : points) {
      double y = y(point.ratio(), most);
      svg.line("whisker", x, y(point.low(), most), x, y(point.high(), most));
      if (!Double.isNaN(before)) {
        svg.line("thread", x - STEP, before, x, y);
      }
      svg.dot(
          "candidate",
          x,
          y,
          3,
          Numbers.format(
              "%s against %s: %.3f (%.3f to %.3f)",
              point.at(), point.base(), point.ratio(), point.low(), point.high()));
      before = y;
      x += STEP;
    }
    return svg.toString();
  }

  private static double y(double ratio, double most) {
    double share = Math.clamp(Math.log(ratio) / Math.log(most), -1, 1);
    return MARGIN + HEIGHT * (1 - share) / 2;
  }
}
