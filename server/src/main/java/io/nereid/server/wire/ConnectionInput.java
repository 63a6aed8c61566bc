package io.nereid.server.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/**
 * What a client sends: a buffer of fixed size, and reads past it for what is large. Used by one
 * thread at a time.
 */
public final class ConnectionInput {

  /**
   * Largest piece of a segment that is given to one read: a byte buffer has an int for its size.
   */
  private static final long PIECE_BYTES = 1L << 30;

  private ReadableByteChannel channel;
  private final byte[] bytes;
  private final ByteBuffer view;
  private int position;
  private int limit;

  /** Reads a channel, with a buffer of that size. */
  public ConnectionInput(ReadableByteChannel channel, int capacity) {
    this.channel = channel;
    bytes = new byte[capacity];
    view = ByteBuffer.wrap(bytes);
  }

  /** Begins anew with another channel. */
  void begin(ReadableByteChannel another) {
    channel = another;
    position = 0;
    limit = 0;
  }

  /** The buffer: what was received and not taken yet is from {@link #position} to limit. */
  byte[] bytes() {
    return bytes;
  }

  int position() {
    return position;
  }

  int limit() {
    return limit;
  }

  /** Bytes that were received and not taken. */
  public int available() {
    return limit - position;
  }

  boolean isFull() {
    return position == 0 && limit == bytes.length;
  }

  void skip(int count) {
    position += count;
  }

  /**
   * Reads more into the buffer, which must not be full. What is there may move to the buffer's
   * start. False: the client sends nothing more.
   */
  public boolean fill() throws IOException {
    return read() >= 0;
  }

  /** As {@link #fill}, for a channel that does not wait: bytes that were there, -1 at the end. */
  int read() throws IOException {
    if (position == limit) {
      position = 0;
      limit = 0;
    } else if (limit == bytes.length) {
      System.arraycopy(bytes, position, bytes, 0, available());
      limit -= position;
      position = 0;
    }
    view.limit(bytes.length).position(limit);
    int count = channel.read(view);
    if (count > 0) {
      limit += count;
    }
    return count;
  }

  /** The next byte; fails at the end. */
  int next() throws IOException {
    if (position == limit && !fill()) {
      throw new ClientGoneException();
    }
    return bytes[position++] & 0xff;
  }

  /** Some of the next bytes, at least one; -1 at the end. */
  int read(byte[] to, int offset, int count) throws IOException {
    if (position == limit) {
      if (count >= bytes.length) {
        return channel.read(ByteBuffer.wrap(to, offset, count));
      }
      if (!fill()) {
        return -1;
      }
    }
    int taken = Math.min(count, available());
    System.arraycopy(bytes, position, to, offset, taken);
    position += taken;
    return taken;
  }

  /** Some of the next bytes, at least one, straight into memory; -1 at the end. */
  long read(MemorySegment to, long offset, long count) throws IOException {
    if (position == limit) {
      if (count >= bytes.length) {
        return channel.read(to.asSlice(offset, Math.min(count, PIECE_BYTES)).asByteBuffer());
      }
      if (!fill()) {
        return -1;
      }
    }
    int taken = (int) Math.min(count, available());
    MemorySegment.copy(bytes, position, to, ValueLayout.JAVA_BYTE, offset, taken);
    position += taken;
    return taken;
  }
}
