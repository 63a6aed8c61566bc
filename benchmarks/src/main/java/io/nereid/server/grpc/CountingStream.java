package io.nereid.server.grpc;

import java.io.OutputStream;

/** Where messages go that nobody reads. It copies, as the transport does. */
final class CountingStream extends OutputStream {

  private final byte[] buffer = new byte[16 << 10];
  private long count;

  long count() {
    return count;
  }

  @Override
  public void write(int value) {
    buffer[(int) (count % buffer.length)] = (byte) value;
    count++;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    for (int done = 0; done < length; ) {
      int piece = Math.min(buffer.length, length - done);
      System.arraycopy(bytes, offset + done, buffer, 0, piece);
      done += piece;
    }
    count += length;
  }
}
