package io.nereid.types;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Collectors;

/** Helps somebody who wrote a name that does not exist. */
public final class Names {

  /** The distance to each name is computed, which takes the product of both lengths. */
  private static final int LONGEST_NAME = 100;

  private static final int MOST_LISTED = 50;

  private Names() {}

  /**
   * Returns the known name that was probably meant by a name that does not exist: the one with the
   * fewest edits, unless so many edits would make another name altogether.
   */
  public static Optional<String> nearest(String name, Collection<String> known) {
    if (name.length() > LONGEST_NAME) {
      return Optional.empty();
    }
    return known.stream()
        .filter(other -> distance(name, other) <= Math.max(2, name.length() / 3))
        .filter(other -> distance(name, other) < name.length())
        .min(
            Comparator.comparingInt((String other) -> distance(name, other))
                .thenComparing(Comparator.naturalOrder()));
  }

  /**
   * The end of a message about a name that does not exist: the names that do, and which of them was
   * probably meant: {@code ", it has A, B; did you mean A?"}.
   *
   * @param has what comes in front of the names, such as {@code "it has"}
   */
  public static String hint(String has, String name, Collection<String> known) {
    if (known.isEmpty()) {
      return ", " + has + " none";
    }
    String more = known.size() > MOST_LISTED ? ", …" : "";
    return ", "
        + has
        + " "
        + known.stream().limit(MOST_LISTED).collect(Collectors.joining(", ", "", more))
        + nearest(name, known).map(near -> "; did you mean " + near + "?").orElse("");
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
