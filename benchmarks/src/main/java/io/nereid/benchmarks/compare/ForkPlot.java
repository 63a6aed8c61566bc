package io.nereid.benchmarks.compare;

import java.util.List;
import java.util.function.Function;

/** Every fork of a benchmark as a dot, relative to the median of the base's forks. */
final class ForkPlot {

  private static final int LABELS_WIDTH = 90;
  private static final int PLOT_WIDTH = 430;
  private static final int ROW_HEIGHT = 20;
  private static final int MARGIN = 10;

  private ForkPlot() {}

  static String of(Outcome outcome, Metric metric) {
    double middle = outcome.median(Pair::base, metric);
    double largest = 1;
    for (Pair pair : outcome.pairs()) {
      for (Fork fork : List.of(pair.base(), pair.candidate())) {
        double ratio = metric.of(fork) / middle;
        largest = Math.max(largest, Math.max(ratio, 1 / ratio));
      }
    }
    RatioAxis axis = RatioAxis.of(LABELS_WIDTH, PLOT_WIDTH, largest);
    int bottom = MARGIN + 2 * ROW_HEIGHT;
    Svg svg =
        new Svg(
            LABELS_WIDTH + PLOT_WIDTH + 2 * MARGIN,
            bottom + 20,
            "forks of " + outcome.id() + ", " + metric.label());
    axis.draw(svg, MARGIN, bottom);
    side(svg, axis, MARGIN + 10, "base", outcome, metric, middle, Pair::base);
    side(
        svg, axis, MARGIN + ROW_HEIGHT + 10, "candidate", outcome, metric, middle, Pair::candidate);
    return svg.toString();
  }

  private static void side(
      Svg svg,
      RatioAxis axis,
      double y,
      String label,
      Outcome outcome,
      Metric metric,
      double middle,
      Function<Pair, Fork> side) {
    svg.text("tick", LABELS_WIDTH - 10, y + 4, "end", label);
    for (Pair pair : outcome.pairs()) {
      double value = metric.of(side.apply(pair));
      if (Double.isFinite(value)) {
        svg.dot(label, axis.x(value / middle), y, 3.5, Numbers.time(value));
      }
    }
    double x = axis.x(outcome.median(side, metric) / middle);
    svg.line("median", x, y - 8, x, y + 8);
  }
}
