package io.nereid.server.wire;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A header field of replies, in the forms of HTTP/1.1 and of HTTP/2: made once, used by all
 * connections.
 */
public final class ReplyField {

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

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
