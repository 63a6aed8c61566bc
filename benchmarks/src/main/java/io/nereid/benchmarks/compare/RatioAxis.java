package io.nereid.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic axis of ratios with 1 in its middle.
 *
 * @param left where it begins, in the drawing's units
 * @param width how long it is
 * @param most the ratio at its right end; beyond it things are drawn at the end
 */
record RatioAxis(double left, double width, double most) {

  private static final double LEAST_MOST = 1.1;
  private static final double MOST_MOST = 3;

  /** An axis on which values up to {@code largest}, and as much below 1, can be seen. */
  static RatioAxis of(double left, double width, double largest) {
    return new RatioAxis(
        left, width, Math.clamp(Math.pow(largest, 1.08), LEAST_MOST, MOST_MOST));
  }

  double x(double ratio) {
    double share = Math.log(ratio) / Math.log(most);
    return left + width * (1 + Math.clamp(share, -1, 1)) / 2;
  }

  /** Ratios to write at the axis. */
  List<Double> ticks() {
    double step = most > 2 ? 0.5 : most > 1.5 ? 0.25 : most > 1.2 ? 0.1 : 0.05;
    List<Double> ticks = new ArrayList<>();
    for (double tick = Math.ceil(1 / most / step) * step; tick <= most; tick += step) {
      ticks.add(tick);
    }
    return ticks;
  }

  /** Grid and numbers between two heights. */
  void draw(Svg svg, double top, double bottom) {
    for (double tick : ticks()) {
      boolean one = Math.abs(tick - 1) < 1e-9;
      svg.line(one ? "one" : "grid", x(tick), top, x(tick), bottom);
      svg.text("tick", x(tick), bottom + 14, "middle", Numbers.format("%.2f", tick));
    }
  }
}
