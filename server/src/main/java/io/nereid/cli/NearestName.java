package io.nereid.cli;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what was meant by a name that does not exist. */
final class NearestName {

  /** Longer ones are not names that somebody typed. */
  private static final int LONGEST_NAME = 100;

  private NearestName() {}

  /** The name with the fewest edits, unless that would be another name altogether. */
  static Optional<String> of(String name, Collection<String> known) {
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
}
