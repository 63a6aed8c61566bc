package io.nereid.server.console;

/** Draws digits with the mouse, as a hand would. */
final class Drawings {

  private static final String SHEET = "canvas.sheet";

  private Drawings() {}

  /** Draws a three: two bows, the second wider. */
  static void three(Browser browser) {
    double[][] upper = arc(0.48, 0.32, 0.20, 0.17, 210, 430);
    double[][] lower = arc(0.48, 0.66, 0.22, 0.18, -70, 150);
    double[][] all = new double[upper.length + lower.length][];
    System.arraycopy(upper, 0, all, 0, upper.length);
    System.arraycopy(lower, 0, all, upper.length, lower.length);
    browser.draw(SHEET, all);
  }

  static void zero(Browser browser) {
    browser.draw(SHEET, arc(0.5, 0.5, 0.22, 0.35, -90, 270));
  }

  /** Points of an ellipse, from one angle to another, in degrees. */
  private static double[][] arc(
      double x, double y, double wide, double high, double from, double to) {
    int steps = 16;
    double[][] points = new double[steps + 1][];
    for (int i = 0; i <= steps; i++) {
      double angle = Math.toRadians(from + (to - from) * i / steps);
      points[i] = new double[] {x + wide * Math.cos(angle), y + high * Math.sin(angle)};
    }
    return points;
  }
}
