package io.nereid.server.json;

import io.nereid.server.shared.ByteSource;
import io.nereid.server.shared.HeapArrays;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The text that a {@link JsonReader} reads, byte by byte: in place, or through a buffer that is
 * filled from a source. The bytes of the present token stay in one piece while it is read. Used by
 * the reader's thread only.
 */
final class JsonBytes {

  /** Texts of at most so many bytes are not charged to the heap. */
  static final int FEW_BYTES = 1024;

  /** The most bytes that are read at a time, so that others may run between. */
  private static final int BUFFER_BYTES = 16 << 10;

  /** The buffer for text from a source; replaced by a longer one for a long token. */
  private byte[] own = new byte[0];

  private byte[] bytes; // the available text, from position to limit
  private int position;
  private int limit;
  private int end; // the end of a text that lies in one piece
  private long offset; // the position of index 0 in the whole text

  private ByteSource source; // the source of more text; null: none
  private ByteSource payer; // charged for heap, and asked for pauses; null: none
  private long sourceLeft;

  /** The first byte that must stay when more are read; -1: none. */
  private int kept;

  private int tokenStart;

  /** Begins with text that lies in one piece. */
  void reset(byte[] text, int from, int length) {
    source = null;
    end = from + length;
    begin(text, from, from + Math.min(length, BUFFER_BYTES));
  }

  /** Begins with at most {@code length} bytes of a source. */
  void reset(ByteSource bytes, long length) {
    if (own.length != BUFFER_BYTES) {
      own = new byte[BUFFER_BYTES];
    }
    source = bytes;
    payer = bytes;
    sourceLeft = length;
    begin(own, 0, 0);
  }

  /** Charges heap memory to the same share as another text. */
  void payAs(JsonBytes other) {
    payer = other.payer;
  }

  /** Drops the memory of a request that has ended and given its heap share back. */
  void release() {
    source = null;
    payer = null;
    if (own.length > BUFFER_BYTES) {
      own = new byte[0];
    }
    bytes = own;
    position = 0;
    limit = 0;
    end = 0;
  }

  private void begin(byte[] text, int from, int to) {
    bytes = text;
    position = from;
    limit = to;
    offset = -from;
    kept = -1;
  }

  /** The array with the token, from {@link #tokenStart} on. */
  byte[] bytes() {
    return bytes;
  }

  /** The index of the next byte. */
  int position() {
    return position;
  }

  /** The number of bytes taken from the text. */
  long offset() {
    return offset + position;
  }

  int tokenStart() {
    return tokenStart;
  }

  /** The present token, of ASCII, up to an index. */
  String tokenTo(int end) {
    int length = end - tokenStart;
    takeHeap(length > FEW_BYTES ? HeapArrays.cost(length) : 0);
    return new String(bytes, tokenStart, length, StandardCharsets.US_ASCII);
  }

  /** Begins a token at the byte taken last; its bytes stay until {@link #endToken}. */
  boolean beginToken() {
    tokenStart = position - 1;
    boolean outermost = kept < 0;
    if (outermost) {
      kept = tokenStart;
    }
    return outermost;
  }

  /**
   * Ends a token; {@code outermost} is the result of {@link #beginToken}, and lets its bytes go
   * when more are read.
   */
  void endToken(boolean outermost) {
    if (outermost) {
      kept = -1;
    }
  }

  /** Keeps everything from the start of the present token on. */
  void keepFromToken() {
    kept = tokenStart;
  }

  /** Returns a copy of the kept bytes and releases them. */
  byte[] takeKept() {
    takeHeap(HeapArrays.cost(position - kept));
    byte[] copy = Arrays.copyOfRange(bytes, kept, position);
    kept = -1;
    return copy;
  }

  /** Charges memory that is kept until the request ends. */
  void takeHeap(long bytes) {
    if (bytes > 0 && payer != null) {
      payer.takeHeap(bytes);
    }
  }

  /** Takes the next byte that is no white space; -1 at the end. */
  int takeVisible() {
    int c = take();
    while (c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      c = take();
    }
    return c;
  }

  /** Takes the next byte; -1 at the end. */
  int take() {
    return position < limit ? bytes[position++] & 0xff : takeMore();
  }

  /**
   * Skips the plain part of a string, as far as it is available: ASCII without quotes, escapes and
   * control characters. Local variables make this fast for names.
   */
  void skipPlain() {
    byte[] text = bytes;
    int at = position;
    int to = limit;
    while (at < to && text[at] >= ' ' && text[at] != '"' && text[at] != '\\') {
      at++;
    }
    position = at;
  }

  /** Puts the last byte back, to be taken again. */
  void putBack(int c) {
    if (c >= 0) {
      position--;
    }
  }

  private int takeMore() {
    if (source == null && limit < end) {
      if (payer != null) {
        payer.pause();
      }
      limit += Math.min(end - limit, BUFFER_BYTES);
      return take();
    }
    if (source == null || sourceLeft == 0) {
      return -1;
    }
    int from = kept < 0 ? limit : kept;
    if (from > 0) {
      System.arraycopy(own, from, own, 0, limit - from);
      position -= from;
      limit -= from;
      tokenStart -= from;
      offset += from;
      kept = kept < 0 ? -1 : 0;
    }
    if (limit == own.length) {
      int room = HeapArrays.grown(limit, limit + 1);
      takeHeap(HeapArrays.cost(room) - HeapArrays.cost(limit));
      own = Arrays.copyOf(own, room);
      bytes = own;
    }
    try {
      int count = source.read(own, limit, (int) Math.min(own.length - limit, sourceLeft));
      sourceLeft = count < 0 ? 0 : sourceLeft - count;
      limit += Math.max(0, count);
      return count < 0 ? -1 : own[position++] & 0xff;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  JsonException unexpected(int c, String expected) {
    return malformed(
        "expected "
            + expected
            + ", got "
            + (c < 0 ? "the end" : c > ' ' && c < 0x7f ? "'" + (char) c + "'" : "byte " + c));
  }

  JsonException malformed(String what) {
    return new JsonException(
        "failed to parse the request JSON buffer: " + what + " at " + offset());
  }
}
