package io.nereid.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of a reply that is still being made, in pieces, so that long ones are never copied to make
 * room. The first piece is kept for the connection's next reply, with room in front for the head:
 * it is written last, when the length is known.
 */
final class JsonBuffer extends OutputStream {

  /** Enough for the heads of this server. */
  static final int HEAD_ROOM = 1024;

  private static final int FIRST_BYTES = 8 << 10;
  private static final int PIECE_BYTES = 64 << 10;

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private final HeapShare heap; // null: there is no limit
  private final byte[] first = new byte[FIRST_BYTES];
  private final List<ByteBuffer> full = new ArrayList<>();
  private byte[] piece = first;
  private int start = HEAD_ROOM;
  private int end = HEAD_ROOM;
  private long fullBytes;
  private long takenBytes; // from heap

  JsonBuffer() {
    this(null);
  }

  /** One whose pieces behind the first are taken from there, to be given back by the caller. */
  JsonBuffer(HeapShare heap) {
    this.heap = heap;
  }

  /** Of whom pieces are taken. */
  HeapShare heap() {
    return heap;
  }

  /** Begins a new reply. */
  void clear() {
    full.clear();
    fullBytes = 0;
    if (takenBytes > 0) {
      heap.giveBack(takenBytes);
      takenBytes = 0;
    }
    piece = first;
    start = HEAD_ROOM;
    end = HEAD_ROOM;
  }

  /** Bytes behind the head's room. */
  long size() {
    return fullBytes + end - start;
  }

  /** Whether this many bytes fit behind what is there, in one piece with all of it. */
  boolean hasRoom(long bytes) {
    return full.isEmpty() && bytes <= piece.length - end;
  }

  /** Puts the head in front, and gives everything as it is to be sent. */
  List<ByteBuffer> seal(byte[] head, int headLength) {
    int from = HEAD_ROOM - headLength;
    System.arraycopy(head, 0, first, from, headLength);
    List<ByteBuffer> all = new ArrayList<>(full.size() + 1);
    if (full.isEmpty()) {
      all.add(ByteBuffer.wrap(first, from, end - from));
    } else {
      all.addAll(full);
      all.set(0, ByteBuffer.wrap(first, from, HEAD_ROOM + full.getFirst().remaining() - from));
      all.add(ByteBuffer.wrap(piece, start, end - start));
    }
    return all;
  }

  /** Writes what is there, as it is. */
  void writeTo(OutputStream to) throws IOException {
    for (ByteBuffer buffer : full) {
      to.write(buffer.array(), buffer.position(), buffer.remaining());
    }
    to.write(piece, start, end - start);
  }

  /** Takes heap memory that is held until the next reply begins; fails when there is none. */
  void takeHeap(long bytes) {
    if (heap != null) {
      heap.take(bytes);
      takenBytes += bytes;
    }
  }

  /** Makes sure of room in one piece for a few bytes. */
  private void reserve(int bytes) {
    if (piece.length - end < bytes) {
      full.add(ByteBuffer.wrap(piece, start, end - start));
      fullBytes += end - start;
      takeHeap(PIECE_BYTES);
      piece = new byte[PIECE_BYTES];
      start = 0;
      end = 0;
    }
  }

  @Override
  public void write(int value) {
    reserve(1);
    piece[end++] = (byte) value;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    int from = offset;
    int left = length;
    while (left > 0) {
      reserve(1);
      int count = Math.min(left, piece.length - end);
      System.arraycopy(bytes, from, piece, end, count);
      end += count;
      from += count;
      left -= count;
    }
  }

  /** Bytes of a segment, for which {@link #hasRoom}. */
  void write(MemorySegment segment) {
    int count = (int) segment.byteSize();
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, 0, piece, end, count);
    end += count;
  }

  /** Text of ASCII characters. */
  @SuppressWarnings("deprecation") // drops the upper halves, which are empty: the fastest way
  JsonBuffer ascii(String text) {
    int length = text.length();
    reserve(length);
    text.getBytes(0, length, piece, end);
    end += length;
    return this;
  }

  /** A number. */
  JsonBuffer number(long value) {
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

  /** Text in quotes, with what JSON wants escaped. */
  JsonBuffer string(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return utf8String(utf8, 0, utf8.length);
  }

  /** A float in the shortest text that reads back as the same; NaN and Infinity as such. */
  JsonBuffer number(float value) {
    reserve(DecimalText.MAX_LENGTH);
    int written = DecimalText.write(value, piece, end);
    if (written < 0) {
      return ascii(Float.toString(value));
    }
    end = written;
    return this;
  }

  /** UTF-8 in quotes, with what JSON wants escaped. */
  JsonBuffer utf8String(byte[] utf8, int offset, int length) {
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
