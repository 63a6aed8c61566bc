package io.nereid.server.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Frames that are to be written, in their order: bytes that are put here, and memory that is lent.
 * Guarded by the connection's lock; what {@link #take} gives is written without it, while others
 * put more.
 */
final class FrameBuffer {

  private static final int FIRST_BYTES = 512;

  /** More than that is not kept. */
  private static final int MOST_KEPT_BYTES = 16 << 10;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int from; // of what is not among the pieces
  private int end;
  private final List<ByteBuffer> pieces = new ArrayList<>();
  private byte[] spare; // null: it is among what was taken
  private byte[] taken; // which is being written
  private long count; // of all bytes that were ever put here
  private long lentCount; // of those that are lent
  private long writtenOwn; // of those that are not, or will never be written
  private long takenOwn; // of those when they were taken
  private boolean drops; // nothing more is written

  /** All bytes that were ever put here. */
  long count() {
    return count;
  }

  /** Bytes that are held here until they are written. */
  long unwrittenBytes() {
    return count - lentCount - writtenOwn;
  }

  boolean isEmpty() {
    return drops || (pieces.isEmpty() && end == from);
  }

  /** Begins a frame with so many bytes behind its header. */
  void frame(int length, int type, int flags, int stream) {
    if (drops) {
      clear();
    }
    reserve(Http2Frame.HEADER_BYTES);
    bytes[end] = (byte) (length >> 16);
    bytes[end + 1] = (byte) (length >> 8);
    bytes[end + 2] = (byte) length;
    bytes[end + 3] = (byte) type;
    bytes[end + 4] = (byte) flags;
    end += 5;
    count += 5;
    putInt(stream);
  }

  void putInt(int value) {
    putShort(value >> 16);
    putShort(value);
  }

  void putShort(int value) {
    reserve(2);
    bytes[end] = (byte) (value >> 8);
    bytes[end + 1] = (byte) value;
    end += 2;
    count += 2;
  }

  void put(byte[] array, int at, int length) {
    reserve(length);
    System.arraycopy(array, at, bytes, end, length);
    end += length;
    count += length;
  }

  /** Puts a copy of so many bytes of what lies there, which are read then. */
  void put(ByteBuffer source, int length) {
    reserve(length);
    source.get(bytes, end, length);
    end += length;
    count += length;
  }

  /** Has so many bytes written from where they lie, which count as read then. */
  void lend(ByteBuffer source, int length) {
    seal();
    if (!drops) {
      pieces.add(source.slice(source.position(), length));
    }
    source.position(source.position() + length);
    count += length;
    lentCount += length;
  }

  private void reserve(int room) {
    if (bytes.length - end >= room) {
      return;
    }
    int length = end - from;
    byte[] larger = new byte[Math.max(2 * bytes.length, length + room)];
    System.arraycopy(bytes, from, larger, 0, length);
    bytes = larger;
    from = 0;
    end = length;
  }

  private void seal() {
    if (end > from) {
      pieces.add(ByteBuffer.wrap(bytes, from, end - from).slice());
      from = end;
    }
  }

  /** Gives all that is to be written; {@link #written} follows, and nothing is taken before. */
  ByteBuffer[] take() {
    seal();
    ByteBuffer[] all = pieces.toArray(ByteBuffer[]::new);
    pieces.clear();
    taken = bytes;
    bytes = spare == null ? new byte[FIRST_BYTES] : spare;
    spare = null;
    from = 0;
    end = 0;
    takenOwn = count - lentCount;
    return all;
  }

  /** What was taken is written, or never will be. */
  void written() {
    spare = taken.length > MOST_KEPT_BYTES ? null : taken;
    taken = null;
    writtenOwn = takenOwn;
  }

  /** Nothing of what is here, or will be, is to be written: no memory that is lent is kept. */
  void drop() {
    drops = true;
    clear();
  }

  private void clear() {
    pieces.clear();
    from = 0;
    end = 0;
    takenOwn = count - lentCount;
    writtenOwn = takenOwn;
  }
}
