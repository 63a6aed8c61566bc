package io.nereid.server.trace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes protobuf into one buffer that is used again and again. A message within another is written
 * before its size is known: one byte is kept free for that, and what is larger moves it on.
 */
final class ProtobufBuffer {

  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int FIXED32 = 5;

  /** Longest tag and number together. */
  private static final int MOST_SCALAR_BYTES = 15;

  private byte[] bytes = new byte[4096];
  private int size;

  void clear() {
    size = 0;
  }

  byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  private void reserve(int count) {
    if (bytes.length - size < count) {
      bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(size, count), bytes.length * 2));
    }
  }

  private void rawVarint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes[size++] = (byte) (rest & 0x7f | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  private void tag(int field, int type) {
    reserve(MOST_SCALAR_BYTES);
    rawVarint((long) field << 3 | type);
  }

  void number(int field, long value) {
    tag(field, VARINT);
    rawVarint(value);
  }

  void fixed64(int field, long value) {
    tag(field, FIXED64);
    raw(value, Long.BYTES);
  }

  void fixed32(int field, int value) {
    tag(field, FIXED32);
    raw(value, Integer.BYTES);
  }

  private void raw(long value, int count) {
    for (int i = 0; i < count; i++) {
      bytes[size++] = (byte) (value >>> (8 * i));
    }
  }

  void string(int field, String value) {
    bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  void bytes(int field, byte[] value) {
    tag(field, LENGTH_DELIMITED);
    rawVarint(value.length);
    reserve(value.length);
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
  }

  /** Begins a message within this one; what it returns ends it. */
  int begin(int field) {
    tag(field, LENGTH_DELIMITED);
    return ++size;
  }

  /** Ends the message that began at this place. */
  void end(int begin) {
    int length = size - begin;
    int lengthBytes = Math.max(1, (Integer.SIZE - Integer.numberOfLeadingZeros(length) + 6) / 7);
    int moved = lengthBytes - 1;
    if (moved > 0) {
      reserve(moved);
      System.arraycopy(bytes, begin, bytes, begin + moved, length);
    }
    size = begin - 1;
    rawVarint(length);
    size += length;
  }
}
