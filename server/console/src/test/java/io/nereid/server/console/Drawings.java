package io.nereid.server.console;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Draws digits with the mouse, as a hand would. */
final class Drawings {

  private static final String SHEET = "canvas.sheet";

  /** The plain digits as people draw them; some have two ways. */
  static final List<Digit> PLAIN =
      List.of(
          new Digit(0, arc(0.5, 0.5, 0.3, 0.45, -90, 270)),
          new Digit(1, line(0.5, 0.05, 0.5, 0.95)),
          new Digit(1, line(0.32, 0.28, 0.55, 0.05, 0.55, 0.95)),
          new Digit(2, join(arc(0.48, 0.3, 0.26, 0.25, 190, 400), line(0.2, 0.95, 0.8, 0.95))),
          new Digit(
              3,
              join(arc(0.46, 0.28, 0.24, 0.23, 210, 440), arc(0.46, 0.72, 0.28, 0.23, -80, 150))),
          new Digit(4, line(0.3, 0.05, 0.2, 0.6, 0.85, 0.6), line(0.65, 0.3, 0.65, 0.95)),
          new Digit(
              5,
              join(
                  line(0.75, 0.05, 0.3, 0.05, 0.27, 0.45), arc(0.48, 0.66, 0.27, 0.28, -140, 140))),
          new Digit(
              6, join(line(0.65, 0.05, 0.4, 0.3, 0.25, 0.6), arc(0.5, 0.7, 0.26, 0.25, -180, 180))),
          new Digit(7, line(0.2, 0.05, 0.8, 0.05, 0.4, 0.95)),
          new Digit(7, line(0.2, 0.05, 0.8, 0.05, 0.4, 0.95), line(0.3, 0.5, 0.75, 0.5)),
          new Digit(
              8, join(arc(0.5, 0.27, 0.22, 0.22, 90, -270), arc(0.5, 0.72, 0.27, 0.23, -90, 270))),
          new Digit(
              9, join(arc(0.48, 0.3, 0.25, 0.25, 0, -360), line(0.73, 0.3, 0.7, 0.6, 0.6, 0.95))));

  private Drawings() {}

  /** A digit and its strokes, whose points are fractions of a square. */
  record Digit(int value, double[][]... strokes) {

    /** Draws it in a part of the sheet, whose left upper corner and side are fractions of it. */
    void draw(Browser browser, double corner, double side) {
      for (double[][] stroke : strokes) {
        browser.draw(
            SHEET,
            Arrays.stream(stroke)
                .map(point -> new double[] {corner + side * point[0], corner + side * point[1]})
                .toArray(double[][]::new));
      }
    }
  }

  /** Draws a three: two bows, the second wider. */
  static void three(Browser browser) {
    browser.draw(
        SHEET, join(arc(0.48, 0.32, 0.20, 0.17, 210, 430), arc(0.48, 0.66, 0.22, 0.18, -70, 150)));
  }

  static void zero(Browser browser) {
    browser.draw(SHEET, arc(0.5, 0.5, 0.22, 0.35, -90, 270));
  }

  private static double[][] join(double[][]... parts) {
    return Stream.of(parts).flatMap(Stream::of).toArray(double[][]::new);
  }

  /** Points of a line with corners, from pairs of x and y. */
  private static double[][] line(double... pairs) {
    double[][] points = new double[pairs.length / 2][];
    for (int i = 0; i < points.length; i++) {
      points[i] = new double[] {pairs[2 * i], pairs[2 * i + 1]};
    }
    return points;
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
