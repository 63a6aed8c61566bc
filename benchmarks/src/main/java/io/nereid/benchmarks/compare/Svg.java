package io.nereid.benchmarks.compare;

/** A drawing inside a page, whose style sheet knows the classes. */
final class Svg {

  private final StringBuilder out = new StringBuilder();

  Svg(int width, int height, String label) {
    out.append(
        Numbers.format(
            "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">",
            width, height, width, height, escape(label)));
  }

  Svg line(String style, double x1, double y1, double x2, double y2) {
    out.append(
        Numbers.format(
            "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
            style, x1, y1, x2, y2));
    return this;
  }

  Svg rect(String style, double x, double y, double width, double height) {
    out.append(
        Numbers.format(
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
            style, x, y, Math.max(0, width), height));
    return this;
  }

  /** A dot; {@code title} is what a pointer that rests on it shows. */
  Svg dot(String style, double x, double y, double radius, String title) {
    out.append(
        Numbers.format(
            "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%s</title></circle>",
            style, x, y, radius, escape(title)));
    return this;
  }

  /** Text that begins, ends or is centered at x, as {@code anchor} says in SVG's words. */
  Svg text(String style, double x, double y, String anchor, String text) {
    out.append(
        Numbers.format(
            "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
            style, x, y, anchor, escape(text)));
    return this;
  }

  @Override
  public String toString() {
    return out + "</svg>\n";
  }

  /** For text and for attributes. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
