package io.nereid.server.wire;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * A header field of replies, in the forms of HTTP/1.1 and of HTTP/2: made once, used by all
 * connections.
 */
public final class ReplyField {

  static final ReplyField LENGTH = of("Content-Length");

  /** What follows a 503: when trying again makes sense. */
  static final ReplyField RETRY_AFTER = of("Retry-After", "1");

  private static volatile Date date = new Date(0, of("Date", ""));

  private record Date(long second, ReplyField field) {}

  /** In lower case, as HTTP/2 has it. */
  final String name;

  /** Null: each reply has its own. */
  final String value;

  /** The line in HTTP/1.1: up to the value, or whole if the value is always the same. */
  final byte[] line;

  private ReplyField(String name, String value) {
    this.name = name.toLowerCase(Locale.ROOT);
    this.value = value;
    line = ascii(value == null ? name + ": " : name + ": " + value + "\r\n");
  }

  /** A field whose value each reply gives. */
  public static ReplyField of(String name) {
    return new ReplyField(name, null);
  }

  /** A field that always has this value. */
  public static ReplyField of(String name, String value) {
    return new ReplyField(name, value);
  }

  /** The moment, which is formatted once in a second. */
  static ReplyField date() {
    long second = System.currentTimeMillis() / 1000;
    Date known = date;
    if (known.second != second) {
      String text =
          DateTimeFormatter.RFC_1123_DATE_TIME.format(
              Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC));
      // The format leaves the zero off the day of the month, which HTTP wants.
      String padded = text.charAt(6) == ' ' ? text.substring(0, 5) + "0" + text.substring(5) : text;
      known = new Date(second, of("Date", padded));
      date = known;
    }
    return known.field;
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
