package io.nereid.perf.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A report for a browser: one page, which loads nothing. For one thread. */
public final class HtmlPage {

  private final StringBuilder html = new StringBuilder();

  /** A page that begins with its title as a heading. */
  public HtmlPage(String title) {
    html.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>")
        .append(Svg.escape(title))
        .append("</title>\n<style>\n")
        .append(style())
        .append("</style>\n</head>\n<body>\n");
    element("h1", title);
  }

  /** The colours and sizes of a page and of its drawings. */
  static String style() {
    try (InputStream in = HtmlPage.class.getResourceAsStream("report.css")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("the style is part of the jar", e);
    }
  }

  private void element(String name, String text) {
    html.append('<').append(name).append('>').append(Svg.escape(text));
    html.append("</").append(name).append(">\n");
  }

  /** A heading of a part. */
  public void heading(String text) {
    element("h2", text);
  }

  /** A paragraph. */
  public void paragraph(String text) {
    element("p", text);
  }

  /** A paragraph that stands out. */
  public void verdict(String text) {
    html.append("<p class=\"verdict\">").append(Svg.escape(text)).append("</p>\n");
  }

  /** Drawings, or elements that the caller made, under a caption. */
  public void figure(String caption, String content) {
    html.append("<figure>\n<figcaption>").append(Svg.escape(caption));
    html.append("</figcaption>\n<div class=\"wide\">").append(content);
    html.append("</div>\n</figure>\n");
  }

  /** Makes a legend, which says what the colours of the series mean, in their order. */
  public static String legend(List<String> series) {
    StringBuilder legend = new StringBuilder("<p class=\"legend\">");
    for (int i = 0; i < series.size(); i++) {
      legend.append("<span class=\"key c").append(i).append("\"></span>");
      legend.append(Svg.escape(series.get(i)));
    }
    return legend.append("</p>\n").toString();
  }

  /** A table, which scrolls where it is wider than the page. */
  public void table(Table table) {
    html.append("<div class=\"wide\">").append(table.html()).append("</div>\n");
  }

  /** A list under a heading; nothing where it is empty. */
  public void list(String heading, List<String> items) {
    if (!items.isEmpty()) {
      heading(heading);
      html.append("<ul>\n");
      items.forEach(item -> element("li", item));
      html.append("</ul>\n");
    }
  }

  /** The page. */
  @Override
  public String toString() {
    return html + "</body>\n</html>\n";
  }
}
