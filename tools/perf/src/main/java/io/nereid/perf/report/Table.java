package io.nereid.perf.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Rows under headings, for a terminal, a page or a document of Markdown. A row that is shorter than
 * the headings ends in a cell that takes the rest of it. For one thread.
 */
public final class Table {

  /**
   * The text in one place of the table.
   *
   * @param style a class of the page's style sheet; empty: none
   */
  public record Cell(String text, String style) {}

  private final List<String> headings;
  private final List<List<Cell>> rows = new ArrayList<>();

  /** A table without rows. */
  public Table(List<String> headings) {
    this.headings = List.copyOf(headings);
  }

  /** Adds a row without styles. */
  public void add(List<String> texts) {
    addStyled(texts.stream().map(text -> new Cell(text, "")).toList());
  }

  /** Adds a row. */
  public void addStyled(List<Cell> cells) {
    rows.add(List.copyOf(cells));
  }

  /** The table as text, in columns as wide as their longest cell and two spaces. */
  public String text() {
    int[] widths = headings.stream().mapToInt(String::length).toArray();
    for (List<Cell> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        widths[i] = Math.max(widths[i], row.get(i).text().length());
      }
    }
    StringBuilder text = new StringBuilder(line(headings, widths));
    rows.forEach(row -> text.append(line(row.stream().map(Cell::text).toList(), widths)));
    return text.toString();
  }

  private static String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      line.append(cells.get(i)).append(" ".repeat(widths[i] + 2 - cells.get(i).length()));
    }
    return line.toString().stripTrailing() + "\n";
  }

  /** The table in Markdown. */
  public String markdown() {
    StringBuilder text = new StringBuilder("| " + String.join(" | ", headings) + " |\n|");
    text.append("---|".repeat(headings.size())).append('\n');
    for (List<Cell> row : rows) {
      text.append(row.stream().map(Cell::text).collect(Collectors.joining(" | ", "| ", " |\n")));
    }
    return text.toString();
  }

  /** The table as an element of a page. */
  String html() {
    StringBuilder html = new StringBuilder("<table>\n<tr>");
    headings.forEach(heading -> html.append("<th>").append(Svg.escape(heading)).append("</th>"));
    html.append("</tr>\n");
    for (List<Cell> row : rows) {
      html.append("<tr>");
      for (int i = 0; i < row.size(); i++) {
        Cell cell = row.get(i);
        int span = i < row.size() - 1 ? 1 : headings.size() - i;
        html.append(span > 1 ? "<td colspan=\"" + span + "\"" : "<td")
            .append(cell.style().isEmpty() ? "" : " class=\"" + cell.style() + "\"")
            .append('>')
            .append(Svg.escape(cell.text()))
            .append("</td>");
      }
      html.append("</tr>\n");
    }
    return html.append("</table>\n").toString();
  }
}
