package io.nereid.server.wire;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the heads of requests as HPACK packs them (RFC 7541). Clients send the same head again and
 * again: bytes that mean the same as the last time give the same list, which nobody changes. One
 * for each connection, whose lock its callers hold.
 */
final class HpackDecoder {

  /** Heads that are longer are not kept. */
  private static final int MAX_KEPT_BYTES = 1024;

  private final HpackTable table = new HpackTable();
  private final int maxListBytes;

  private byte[] lastBlock = {};
  private int lastChanges = -1; // of the table, when the last one was read
  private List<String> last = List.of();

  // Of the block that is being read.
  private byte[] bytes;
  private int position;
  private int end;
  private byte[] plain = new byte[128]; // a text that came packed

  /** Fields of a block, counted as RFC 9113 says, may take that much together. */
  HpackDecoder(int maxListBytes) {
    this.maxListBytes = maxListBytes;
  }

  /** Gives names and values in turns; null: there are more than there may be. */
  List<String> read(byte[] block, int length) {
    boolean again =
        lastChanges == table.changes()
            && lastBlock.length == length
            && Arrays.equals(block, 0, length, lastBlock, 0, length);
    if (again) {
      return last;
    }
    int before = table.changes();
    List<String> fields = decode(block, length);
    if (fields != null && before == table.changes() && length <= MAX_KEPT_BYTES) {
      lastBlock = Arrays.copyOf(block, length);
      lastChanges = before;
      last = fields;
    }
    return fields;
  }

  private List<String> decode(byte[] block, int length) {
    bytes = block;
    position = 0;
    end = length;
    List<String> fields = new ArrayList<>(24);
    long listBytes = 0;
    while (position < end) {
      int first = bytes[position] & 0xff;
      String name;
      String value;
      if (first >= 0x80) {
        int number = known(integer(7));
        name = table.name(number);
        value = table.value(number);
      } else if (first >= 0x40) {
        name = name(6);
        value = text();
        table.add(name, value);
      } else if (first >= 0x20) {
        resize(fields.isEmpty() && listBytes == 0);
        continue;
      } else {
        name = name(4);
        value = text();
      }
      listBytes += HpackTable.entryBytes(name, value);
      if (listBytes <= maxListBytes) {
        fields.add(name);
        fields.add(value);
      }
    }
    return listBytes <= maxListBytes ? fields : null;
  }

  private void resize(boolean isFirst) {
    int most = integer(5);
    if (!isFirst || most > HpackTable.MAX_BYTES) {
      throw broken("a table of at most " + HpackTable.MAX_BYTES + " bytes, said first");
    }
    table.maxBytes(most);
  }

  private String name(int bits) {
    int number = integer(bits);
    return number == 0 ? text() : table.name(known(number));
  }

  private int known(int number) {
    if (number == 0 || number > table.count()) {
      throw broken("the number of a field that there is");
    }
    return number;
  }

  /** Reads a number that begins in the lower bits of the next byte. */
  private int integer(int bits) {
    int most = (1 << bits) - 1;
    int value = next() & most;
    if (value < most) {
      return value;
    }
    for (int shift = 0; shift <= 21; shift += 7) {
      int more = next();
      value += (more & 0x7f) << shift;
      if (more < 0x80) {
        return value;
      }
    }
    throw broken("a number of at most 28 bits");
  }

  private int next() {
    if (position == end) {
      throw broken("more bytes");
    }
    return bytes[position++] & 0xff;
  }

  private String text() {
    boolean packed = position < end && bytes[position] < 0;
    int length = integer(7);
    if (length > end - position) {
      throw broken("a text of " + length + " bytes");
    }
    int from = position;
    position += length;
    if (!packed) {
      return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }
    int most = HpackHuffman.mostBytes(length);
    if (plain.length < most) {
      plain = new byte[most];
    }
    int count = HpackHuffman.unpack(bytes, from, position, plain);
    if (count < 0) {
      throw broken("a text that is packed as its code says");
    }
    return new String(plain, 0, count, StandardCharsets.ISO_8859_1);
  }

  private static Http2Failure broken(String expected) {
    return Http2Failure.ofConnection(
        Http2Error.COMPRESSION_ERROR, "expected " + expected + " in a head");
  }
}
