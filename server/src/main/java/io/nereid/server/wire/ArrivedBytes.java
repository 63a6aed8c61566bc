package io.nereid.server.wire;

import java.nio.ByteBuffer;

/**
 * What came of a stream's body while nobody was reading it, at most a window. Guarded by the
 * connection's lock; one stream after the other may have it.
 */
public final class ArrivedBytes {

  private static final int MOST_KEPT_BYTES = 64 << 10;

  private static final byte[] NOTHING = {};

  private byte[] bytes = NOTHING;
  private int start;
  private int end;

  /** How many there are. */
  public int count() {
    return end - start;
  }

  /** Takes all that is left of the data. */
  public void add(ByteBuffer data) {
    int count = data.remaining();
    if (count > 0) {
      makeRoom(count);
      data.get(bytes, end, count);
      end += count;
    }
  }

  private void makeRoom(int count) {
    if (bytes.length - end >= count) {
      return;
    }
    int kept = count();
    byte[] room =
        bytes.length - kept >= count
            ? bytes
            : new byte[Math.max(kept + count, Math.min(2 * bytes.length, 1 << 20))];
    System.arraycopy(bytes, start, room, 0, kept);
    bytes = room;
    start = 0;
    end = kept;
  }

  /** The next ones, which stay here. */
  public ByteBuffer peek() {
    return ByteBuffer.wrap(bytes, start, end - start).slice();
  }

  /** Drops as many, of which there are so many. */
  public void skip(int count) {
    start += count;
    if (start == end) {
      clear();
    }
  }

  /** Moves as much as there is and fits. */
  public void moveTo(ByteBuffer to) {
    int count = Math.min(count(), to.remaining());
    to.put(bytes, start, count);
    skip(count);
  }

  /** Keeps the room, unless it is large. */
  public void clear() {
    start = 0;
    end = 0;
    bytes = bytes.length > MOST_KEPT_BYTES ? NOTHING : bytes;
  }
}
