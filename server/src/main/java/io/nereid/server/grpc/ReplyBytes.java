package io.nereid.server.grpc;

import java.io.OutputStream;
import java.util.Arrays;

/**
 * A message that is about to be sent, behind what stands before each: whether it is compressed, and
 * its length. A connection uses it for one message after the other, on its loop.
 */
final class ReplyBytes extends OutputStream {

  private static final int PREFIX_BYTES = 5;
  private static final int FIRST_BYTES = 512;

  /** Room for more is not kept. */
  private static final int MOST_KEPT_BYTES = 64 << 10;

  private byte[] array;
  private int end;

  ReplyBytes() {
    this(FIRST_BYTES);
  }

  /** With room for a message of that length. */
  ReplyBytes(int length) {
    array = new byte[PREFIX_BYTES + length];
  }

  ReplyBytes begin() {
    end = PREFIX_BYTES;
    return this;
  }

  @Override
  public void write(int b) {
    reserve(1);
    array[end++] = (byte) b;
  }

  @Override
  public void write(byte[] from, int offset, int length) {
    reserve(length);
    System.arraycopy(from, offset, array, end, length);
    end += length;
  }

  private void reserve(int length) {
    if (array.length - end < length) {
      long twice = Math.min(2L * array.length, Integer.MAX_VALUE - 8);
      array = Arrays.copyOf(array, (int) Math.max(twice, Math.addExact(end, length)));
    }
  }

  /** Bytes of the message that are here. */
  int count() {
    return end - PREFIX_BYTES;
  }

  /** Ends the message that is here; gives how many bytes there are to send. */
  int end(byte kind) {
    return end(kind, count());
  }

  /** The same for a message of which only the first bytes are here. */
  int end(byte kind, int length) {
    array[0] = kind;
    for (int i = 1; i < PREFIX_BYTES; i++) {
      array[i] = (byte) (length >> 8 * (PREFIX_BYTES - 1 - i));
    }
    return end;
  }

  byte[] array() {
    return array;
  }

  void shrink() {
    if (array.length > MOST_KEPT_BYTES) {
      array = new byte[FIRST_BYTES];
    }
  }
}
