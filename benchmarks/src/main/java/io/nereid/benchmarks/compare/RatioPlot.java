package io.nereid.benchmarks.compare;

import java.util.List;
import java.util.Map;

/** The ratios of all benchmarks with their intervals, one below the other. */
final class RatioPlot {

  private static final int NAMES_WIDTH = 330;
  private static final int PLOT_WIDTH = 430;
  private static final int MARGIN = 20;
  private static final int ROW_HEIGHT = 18;

  private RatioPlot() {}

  static String of(List<Outcome> outcomes, double threshold) {
    double largest =
        outcomes.stream()
            .flatMap(outcome -> outcome.estimates().values().stream())
            .filter(estimate -> estimate != null)
            .mapToDouble(estimate -> Math.max(estimate.high(), 1 / estimate.low()))
            .max()
            .orElse(1);
    RatioAxis axis = RatioAxis.of(NAMES_WIDTH, PLOT_WIDTH, Math.max(largest, 1 + 2 * threshold));
    int rows = outcomes.stream().mapToInt(outcome -> outcome.estimates().size()).sum();
    int bottom = MARGIN + rows * ROW_HEIGHT + outcomes.size() * 6;
    Svg svg =
        new Svg(NAMES_WIDTH + PLOT_WIDTH + MARGIN, bottom + 24, "ratios with their intervals");
    double from = axis.x(1 / (1 + threshold));
    svg.rect("band", from, MARGIN, axis.x(1 + threshold) - from, bottom - MARGIN);
    axis.draw(svg, MARGIN, bottom);
    double y = MARGIN + 3;
    for (Outcome outcome : outcomes) {
      svg.text("name", NAMES_WIDTH - 44, y + 12, "end", shortened(outcome.id().toString()));
      for (Map.Entry<Metric, Estimate> entry : outcome.estimates().entrySet()) {
        row(svg, axis, y + 8, outcome, entry.getKey(), entry.getValue());
        y += ROW_HEIGHT;
      }
      y += 6;
    }
    return svg.toString();
  }

  private static void row(
      Svg svg, RatioAxis axis, double y, Outcome outcome, Metric metric, Estimate estimate) {
    svg.text("tick", NAMES_WIDTH - 8, y + 4, "end", metric.label());
    if (estimate == null) {
      return;
    }
    String style = metric.label() + " " + outcome.verdicts().get(metric).name();
    svg.line(style, axis.x(estimate.low()), y, axis.x(estimate.high()), y);
    svg.dot(
        style,
        axis.x(estimate.ratio()),
        y,
        4,
        Numbers.format(
            "%s, %s: %s (%s), %d pairs",
            outcome.id(),
            metric.label(),
            Numbers.ratio(estimate),
            Numbers.interval(estimate),
            estimate.pairCount()));
  }

  static String shortened(String name) {
    return name.length() <= 46 ? name : name.substring(0, 45) + "…";
  }
}
