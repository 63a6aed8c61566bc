package io.nereid.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Helps with text on a terminal: what may be shown, what a misspelt name meant, and tables. */
final class Texts {

  /** Longer ones are not names that somebody typed. */
  private static final int LONGEST_NAME = 100;

  private Texts() {}

  /**
   * The text of a model or its files without line breaks, and without what a terminal would act on
   * instead of printing it.
   */
  static String printable(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }

  /**
   * What was meant by a name that does not exist: the one with the fewest edits, unless that would
   * be another name altogether.
   */
  static Optional<String> nearest(String name, Collection<String> known) {
    if (name.length() > LONGEST_NAME) {
      return Optional.empty();
    }
    return known.stream()
        .filter(other -> distance(name, other) <= Math.max(2, name.length() / 3))
        .min(
            Comparator.comparingInt((String other) -> distance(name, other))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Characters to insert, delete or replace. */
  private static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int above = row[j];
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, 1 + Math.min(above, row[j - 1]));
        diagonal = above;
      }
    }
    return row[to.length()];
  }

  /** Rows of text in columns that are as wide as what they hold. */
  static final class Table {

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... headings) {
      rows.add(List.of(headings));
    }

    void add(String... cells) {
      rows.add(Arrays.stream(cells).map(Texts::printable).toList());
    }

    void print(PrintWriter out) {
      int columns = rows.getFirst().size();
      int[] widths = new int[columns];
      for (List<String> row : rows) {
        for (int i = 0; i < columns; i++) {
          widths[i] = Math.max(widths[i], row.get(i).length());
        }
      }
      for (List<String> row : rows) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < columns; i++) {
          line.append(row.get(i)).repeat(' ', widths[i] - row.get(i).length() + 2);
        }
        out.println(line.toString().stripTrailing());
      }
    }
  }
}
