package io.nereid.server.json;

import io.nereid.server.shared.HeapShare;
import io.nereid.server.shared.PieceBuffer;
import java.nio.charset.StandardCharsets;

/** Writes JSON into a buffer that a connection keeps. Used by one thread at a time. */
public final class JsonBuffer extends PieceBuffer {

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /** Makes a buffer without a limit. */
  public JsonBuffer() {
    super();
  }

  /**
   * Makes a buffer whose pieces after the first count in a share of the heap; {@code pause} lets
   * other threads run, and is called with each piece.
   */
  public JsonBuffer(HeapShare heap, Runnable pause) {
    super(heap, pause);
  }

  /** Writes text of ASCII characters. */
  @SuppressWarnings("deprecation") // drops the upper halves, which are empty: the fastest way
  public JsonBuffer ascii(String text) {
    int length = text.length();
    reserve(length);
    text.getBytes(0, length, piece, end);
    end += length;
    return this;
  }

  /** A number. */
  public JsonBuffer number(long value) {
    reserve(20);
    if (value >= 0 && value < 10) {
      piece[end++] = (byte) ('0' + value);
      return this;
    }
    if (value == Long.MIN_VALUE) {
      return ascii(Long.toString(value));
    }
    long rest = value;
    if (rest < 0) {
      piece[end++] = '-';
      rest = -rest;
    }
    int digits = 0;
    for (long n = rest; n > 0; n /= 10) {
      digits++;
    }
    for (int i = end + digits - 1; i >= end; i--) {
      piece[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    end += digits;
    return this;
  }

  /** Writes text in quotes, with JSON's escapes. */
  public JsonBuffer string(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return utf8String(utf8, 0, utf8.length);
  }

  /** Writes a float as the shortest text that reads back as the same; NaN and Infinity as such. */
  public JsonBuffer number(float value) {
    reserve(DecimalText.MAX_LENGTH);
    int written = DecimalText.write(value, piece, end);
    if (written < 0) {
      return ascii(Float.toString(value));
    }
    end = written;
    return this;
  }

  /** Writes UTF-8 in quotes, with JSON's escapes. */
  public JsonBuffer utf8String(byte[] utf8, int offset, int length) {
    write('"');
    for (int i = offset; i < offset + length; i++) {
      int c = utf8[i];
      reserve(6);
      if (c == '"' || c == '\\') {
        piece[end++] = '\\';
        piece[end++] = (byte) c;
      } else if (c >= 0 && c < ' ') {
        escape(c);
      } else {
        piece[end++] = (byte) c;
      }
    }
    write('"');
    return this;
  }

  private void escape(int c) {
    piece[end++] = '\\';
    switch (c) {
      case '\n' -> piece[end++] = 'n';
      case '\r' -> piece[end++] = 'r';
      case '\t' -> piece[end++] = 't';
      default -> {
        piece[end++] = 'u';
        piece[end++] = '0';
        piece[end++] = '0';
        piece[end++] = HEX[c >> 4];
        piece[end++] = HEX[c & 15];
      }
    }
  }
}
