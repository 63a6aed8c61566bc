package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Metric;
import io.nereid.perf.compare.Outcome.Pair;
import io.nereid.perf.report.Svg;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Draws the ratios, the forks and the history of a comparison. */
final class Plots {

  private static final int PLOT_WIDTH = 430;
  private static final int MARGIN = 10;

  private Plots() {}

  // ---- The ratios of all benchmarks with their intervals, one below the other -------------------

  private static final int NAMES_WIDTH = 330;
  private static final int MOST_NAME_LENGTH = 46;
  private static final int RATIO_HEIGHT = 18;

  static String ratios(List<Outcome> outcomes, double threshold) {
    double largest =
        outcomes.stream()
            .flatMap(outcome -> outcome.estimates().values().stream())
            .filter(estimate -> estimate != null)
            .mapToDouble(estimate -> Math.max(estimate.high(), 1 / estimate.low()))
            .max()
            .orElse(1);
    RatioAxis axis = RatioAxis.of(NAMES_WIDTH, Math.max(largest, 1 + 2 * threshold));
    int rows = outcomes.stream().mapToInt(outcome -> outcome.estimates().size()).sum();
    int top = 2 * MARGIN;
    int bottom = top + rows * RATIO_HEIGHT + outcomes.size() * 6;
    Svg svg = new Svg(NAMES_WIDTH + PLOT_WIDTH + top, bottom + 24, "ratios with their intervals");
    double from = axis.x(1 / (1 + threshold));
    svg.rect("band", from, top, axis.x(1 + threshold) - from, bottom - top, "");
    axis.draw(svg, top, bottom);
    double y = top + 3;
    for (Outcome outcome : outcomes) {
      svg.text("name", NAMES_WIDTH - 44, y + 12, "end", shortened(outcome.id().toString()));
      for (Map.Entry<Metric, Estimate> entry : outcome.estimates().entrySet()) {
        ratio(svg, axis, y + 8, outcome, entry.getKey(), entry.getValue());
        y += RATIO_HEIGHT;
      }
      y += 6;
    }
    return svg.toString();
  }

  private static void ratio(
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

  private static String shortened(String name) {
    return name.length() <= MOST_NAME_LENGTH ? name : name.substring(0, MOST_NAME_LENGTH - 1) + "…";
  }

  // ---- Every fork of a benchmark as a dot, relative to the median of the base's forks -----------

  private static final int LABELS_WIDTH = 90;
  private static final int SIDE_HEIGHT = 20;

  static String forks(Outcome outcome, Metric metric) {
    double middle = outcome.median(Pair::base, metric);
    double largest = 1;
    for (Pair pair : outcome.pairs()) {
      for (Fork fork : List.of(pair.base(), pair.candidate())) {
        double ratio = metric.of(fork) / middle;
        largest = Math.max(largest, Math.max(ratio, 1 / ratio));
      }
    }
    RatioAxis axis = RatioAxis.of(LABELS_WIDTH, largest);
    int bottom = MARGIN + 2 * SIDE_HEIGHT;
    String description = "forks of " + outcome.id() + ", " + metric.label();
    Svg svg = new Svg(LABELS_WIDTH + PLOT_WIDTH + 2 * MARGIN, bottom + 20, description);
    axis.draw(svg, MARGIN, bottom);
    for (String label : List.of("base", "candidate")) {
      boolean isBase = label.equals("base");
      Function<Pair, Fork> side = isBase ? Pair::base : Pair::candidate;
      double y = MARGIN + 10 + (isBase ? 0 : SIDE_HEIGHT);
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
    return svg.toString();
  }

  // ---- The ratios of one benchmark in the kept comparisons, the latest at the right ----

  private static final int MOST_POINTS = 60;
  private static final int LEFT = 50;
  private static final int STEP = 11;
  private static final int HEIGHT = 100;

  static String history(String title, List<History.Point> all) {
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
    double share = Math.max(-1, Math.min(Math.log(ratio) / Math.log(most), 1));
    return MARGIN + HEIGHT * (1 - share) / 2;
  }

  /**
   * A logarithmic axis of ratios with 1 in its middle.
   *
   * @param left its left end, in the drawing's units
   * @param width its length
   * @param most the ratio at its right end; larger ones are drawn there
   */
  private record RatioAxis(double left, double width, double most) {

    private static final double LEAST_MOST = 1.1;
    private static final double MOST_MOST = 3;

    /** An axis for values up to {@code largest}, and its reciprocal. */
    static RatioAxis of(double left, double largest) {
      return new RatioAxis(
          left, PLOT_WIDTH, Math.max(LEAST_MOST, Math.min(Math.pow(largest, 1.08), MOST_MOST)));
    }

    double x(double ratio) {
      double share = Math.log(ratio) / Math.log(most);
      return left + width * (1 + Math.max(-1, Math.min(share, 1))) / 2;
    }

    /** The ratios of the labels on the axis. */
    List<Double> ticks() {
      double step = most > 2 ? 0.5 : most > 1.5 ? 0.25 : most > 1.2 ? 0.1 : 0.05;
      List<Double> ticks = new ArrayList<>();
      for (double tick = Math.ceil(1 / most / step) * step; tick <= most; tick += step) {
        ticks.add(tick);
      }
      return ticks;
    }

    /** Draws grid and numbers between two heights. */
    void draw(Svg svg, double top, double bottom) {
      for (double tick : ticks()) {
        boolean one = Math.abs(tick - 1) < 1e-9;
        svg.line(one ? "one" : "grid", x(tick), top, x(tick), bottom);
        svg.text("tick", x(tick), bottom + 14, "middle", Numbers.format("%.2f", tick));
      }
    }
  }
}
