package io.nereid.server.wire;

import java.util.Arrays;
import java.util.List;

/**
 * Packs the heads of replies by HPACK (RFC 7541): what it has sent before it names by its number.
 * One for each connection, whose lock its callers hold.
 */
final class HpackEncoder {

  // What a field begins with, and how many bits of that byte are left for a number.
  private static final int INDEXED = 0x80;
  private static final int INDEXED_BITS = 7;
  private static final int ADDED = 0x40;
  private static final int ADDED_BITS = 6;
  private static final int RESIZED = 0x20;
  private static final int RESIZED_BITS = 5;
  private static final int NOT_ADDED = 0;
  private static final int NOT_ADDED_BITS = 4;
  private static final int LENGTH_BITS = 7;

  private static final int OK = 200;

  /** The most bytes of a number. */
  private static final int NUMBER_BYTES = 6;

  private final HpackTable table = new HpackTable();
  private byte[] block = new byte[256];
  private int length;
  private boolean resized; // which the next head says first
  private int leastBytes = HpackTable.MAX_BYTES; // that the table had since the last head

  /** The client keeps a table of at most so many bytes. */
  void tableBytes(long most) {
    int bytes = (int) Math.min(most, HpackTable.MAX_BYTES);
    if (bytes != table.maxBytes()) {
      table.maxBytes(bytes);
      leastBytes = Math.min(leastBytes, bytes);
      resized = true;
    }
  }

  /**
   * Packs a head, whose {@code fields} are names and values in turns; gives how long it is. Without
   * a status, which is 0 then, it stands behind a body.
   */
  int write(int status, List<String> fields) {
    length = 0;
    if (resized) {
      resized = false;
      reserve(2 * NUMBER_BYTES);
      if (leastBytes < table.maxBytes()) {
        number(RESIZED, RESIZED_BITS, leastBytes);
      }
      number(RESIZED, RESIZED_BITS, table.maxBytes());
      leastBytes = table.maxBytes();
    }
    if (status > 0) {
      field(":status", status == OK ? "200" : Integer.toString(status));
    }
    for (int i = 0; i < fields.size(); i += 2) {
      field(fields.get(i), fields.get(i + 1));
    }
    return length;
  }

  /** What was packed last; others write here next. */
  byte[] block() {
    return block;
  }

  private void field(String name, String value) {
    reserve(3 * NUMBER_BYTES + name.length() + value.length());
    int known = table.number(name, value);
    if (known > 0) {
      number(INDEXED, INDEXED_BITS, known);
      return;
    }
    // Lengths are seldom the same, and would drive all other fields out of the table.
    boolean adds = name != ReplyField.LENGTH.name;
    number(adds ? ADDED : NOT_ADDED, adds ? ADDED_BITS : NOT_ADDED_BITS, -known);
    if (known == 0) {
      text(name);
    }
    text(value);
    if (adds) {
      table.add(name, value);
    }
  }

  private void reserve(int count) {
    if (block.length - length < count) {
      block = Arrays.copyOf(block, Math.max(2 * block.length, length + count));
    }
  }

  private void number(int begin, int bits, int value) {
    int most = (1 << bits) - 1;
    if (value < most) {
      block[length++] = (byte) (begin | value);
      return;
    }
    block[length++] = (byte) (begin | most);
    int rest = value - most;
    for (; rest >= 0x80; rest >>= 7) {
      block[length++] = (byte) (rest | 0x80);
    }
    block[length++] = (byte) rest;
  }

  @SuppressWarnings("deprecation") // drops the upper halves, which are empty: the fastest way
  private void text(String text) {
    number(0, LENGTH_BITS, text.length());
    text.getBytes(0, text.length(), block, length);
    length += text.length();
  }
}
