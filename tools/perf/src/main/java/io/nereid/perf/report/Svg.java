package io.nereid.perf.report;

import java.util.Locale;
import java.util.regex.Matcher;

/**
 * A drawing inside an {@link HtmlPage}, whose style sheet knows the classes that are given here as
 * styles: so that one drawing suits light and dark. For one thread.
 */
public final class Svg {

  private final StringBuilder out = new StringBuilder();

  /** An empty drawing; {@code description} is for those who cannot see it. */
  public Svg(double width, double height, String description) {
    add(
        "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\""
            + " aria-label=\"%s\">%n",
        width, height, width, height, escape(description));
  }

  /** A straight line. */
  public void line(String style, double x1, double y1, double x2, double y2) {
    add(
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>%n",
        style, x1, y1, x2, y2);
  }

  /** A line through points, in SVG's words for a path. */
  public void path(String style, String points) {
    add("<path class=\"%s\" d=\"%s\"/>%n", style, points);
  }

  /** A rectangle; {@code title} is what a pointer that rests on it shows, if it is not empty. */
  public void rect(String style, double x, double y, double width, double height, String title) {
    add(
        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">%s</rect>%n",
        style, x, y, Math.max(0, width), Math.max(0, height), titled(title));
  }

  /** A dot; {@code title} is what a pointer that rests on it shows. */
  public void dot(String style, double x, double y, double radius, String title) {
    add(
        "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">%s</circle>%n",
        style, x, y, radius, titled(title));
  }

  /** Text that begins, ends or is centered at x, as {@code anchor} says in SVG's words. */
  public void text(String style, double x, double y, String anchor, String text) {
    add(
        "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
        style, x, y, anchor, escape(text));
  }

  /** Text that is written upwards, centered at the place. */
  public void upwardText(String style, double x, double y, String text) {
    add(
        "<text class=\"%s\" transform=\"translate(%.1f %.1f) rotate(-90)\""
            + " text-anchor=\"middle\">%s</text>%n",
        style, x, y, escape(text));
  }

  private static String titled(String title) {
    return title.isEmpty() ? "" : "<title>" + escape(title) + "</title>";
  }

  private void add(String format, Object... values) {
    out.append(String.format(Locale.ROOT, format, values));
  }

  /** The element. */
  @Override
  public String toString() {
    return out + "</svg>\n";
  }

  /**
   * Makes a drawing a file that needs no page: it has the colours, for light and dark, in itself.
   */
  public static String file(String drawing) {
    return drawing
        .replaceFirst("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ")
        .replaceFirst(
            ">\n",
            Matcher.quoteReplacement(
                ">\n<style>\n"
                    + HtmlPage.style()
                    + "svg { background: var(--page); font-family: system-ui, sans-serif; }\n"
                    + "</style>\n"));
  }

  /** For text and for attributes. */
  public static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
