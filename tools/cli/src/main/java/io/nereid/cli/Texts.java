package io.nereid.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text for a terminal: removal of control characters, and tables. */
final class Texts {

  private Texts() {}

  /** Returns text of a model or its files without line breaks and control characters. */
  static String printable(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }

  /** The beginning of a text, with dots where the rest is missing. */
  static String cut(String text, int length) {
    return text.length() <= length ? text : text.substring(0, length - 3) + "...";
  }

  /** Rows of text in columns as wide as their longest cell. */
  static final class Table {

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... headings) {
      rows.add(List.of(headings));
    }

    void add(String... cells) {
      rows.add(Arrays.stream(cells).map(Texts::printable).toList());
    }

    void print(PrintWriter out) {
      lines().forEach(out::println);
    }

    /** The headings and all rows, in a list that the caller may change. */
    List<String> lines() {
      int columns = rows.getFirst().size();
      int[] widths = new int[columns];
      for (List<String> row : rows) {
        for (int i = 0; i < columns; i++) {
          widths[i] = Math.max(widths[i], row.get(i).length());
        }
      }
      List<String> lines = new ArrayList<>();
      for (List<String> row : rows) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < columns; i++) {
          line.append(row.get(i)).repeat(' ', widths[i] - row.get(i).length() + 2);
        }
        lines.add(line.toString().stripTrailing());
      }
      return lines;
    }
  }
}
