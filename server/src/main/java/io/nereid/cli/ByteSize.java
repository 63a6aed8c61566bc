package io.nereid.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes of memory as people write and read them. */
final class ByteSize {

  private static final Pattern FORM = Pattern.compile("([0-9]{1,15})([KMG]?)(i?B)?");

  private ByteSize() {}

  /** Bytes, or with K, M or G multiples of 1024 of them, such as {@code 4G} and {@code 512MiB}. */
  static long parse(String option, String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "expected " + option + " in bytes or with K, M or G, such as 4G, got '" + text + "'");
    }
    long shift =
        switch (matcher.group(2)) {
          case "K" -> 1L << 10;
          case "M" -> 1L << 20;
          case "G" -> 1L << 30;
          default -> 1;
        };
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), shift);
  }

  /** In MiB with one digit behind the point. */
  static String text(long bytes) {
    return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20));
  }
}
