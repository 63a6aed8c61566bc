package io.nereid.server.wire;

import io.nereid.server.shared.ByteSource;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

/** The body of one request, read from its start to its end by the thread that serves it. */
public interface RequestBody extends ByteSource {

  /** {@link #length} of a body whose end is known when it is there. */
  long UNKNOWN_LENGTH = -1;

  /** All its bytes, those that were read included. */
  long length();

  /** Some of the next bytes, at least one, into memory; -1 at the end. */
  long read(MemorySegment to, long offset, long count) throws IOException;

  /** Fills the segment; false when the body ends first. */
  default boolean readFully(MemorySegment to) throws IOException {
    long offset = 0;
    while (offset < to.byteSize()) {
      long count = read(to, offset, to.byteSize() - offset);
      if (count < 0) {
        return false;
      }
      offset += count;
    }
    return true;
  }

  /** At most {@code count} of the next bytes as a stream, which need not be closed. */
  default InputStream stream(long count) {
    return new InputStream() {
      private long left = count;

      /** Something may follow: whoever asks finds out by reading. */
      @Override
      public int available() {
        return left > 0 ? 1 : 0;
      }

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        if (left == 0) {
          return -1;
        }
        int taken = RequestBody.this.read(to, offset, (int) Math.min(length, left));
        if (taken > 0) {
          left -= taken;
        }
        return taken;
      }
    };
  }
}
