package io.nereid.recording.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The distance that an element may have: {@code absolute + relative * |element of the first side|}.
 *
 * @param absolute the part that is the same for all elements
 * @param relative the part that grows with the element
 */
public record Tolerance(double absolute, double relative) {

  /** Finds a relative error of 1e-3, and forgives the order in which floats are added up. */
  public static final Tolerance DEFAULT = new Tolerance(1e-6, 1e-4);

  /** Forgives nothing. */
  public static final Tolerance NONE = new Tolerance(0, 0);

  /** The name under which {@link #read} has the tolerance of outputs that it does not name. */
  public static final String ALL = "default";

  /** Checks the values. */
  public Tolerance {
    if (!(absolute >= 0) || !(relative >= 0)) {
      throw new IllegalArgumentException(
          "expected tolerances of 0 or more, got " + absolute + "," + relative);
    }
  }

  /** Reads {@code ABSOLUTE,RELATIVE}. */
  public static Tolerance of(String text) {
    String[] parts = text.strip().split(",", -1);
    try {
      if (parts.length == 2) {
        return new Tolerance(
            Double.parseDouble(parts[0].strip()), Double.parseDouble(parts[1].strip()));
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "expected a tolerance ABSOLUTE,RELATIVE such as 1e-6,1e-4, got '" + text + "'");
  }

  /**
   * Reads a file with a line {@code MODEL/OUTPUT = ABSOLUTE,RELATIVE} for each output that has
   * tolerances of its own, and {@code default = ...} for the others.
   */
  public static Map<String, Tolerance> read(Path file) throws IOException {
    Map<String, Tolerance> tolerances = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      String text = line.replaceFirst("#.*", "").strip();
      int equals = text.lastIndexOf('=');
      if (equals > 0) {
        tolerances.put(text.substring(0, equals).strip(), of(text.substring(equals + 1)));
      } else if (!text.isEmpty()) {
        throw new IllegalArgumentException(
            "expected MODEL/OUTPUT = ABSOLUTE,RELATIVE in " + file + ", got '" + text + "'");
      }
    }
    return tolerances;
  }
}
