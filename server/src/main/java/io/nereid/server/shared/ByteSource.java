package io.nereid.server.shared;

import java.io.IOException;
import java.io.InputStream;

/** Bytes from a sender, read by one thread. */
public interface ByteSource {

  /** Reads some of the next bytes, at least one; -1 at the end. */
  int read(byte[] to, int offset, int count) throws IOException;

  /** Takes heap memory until the request ends; throws if none is left. */
  default void takeHeap(long bytes) {}

  /** Lets other threads run, if the reading one has run for a while. */
  default void pause() {}

  /** The bytes as a stream, which has nothing to close. */
  default InputStream asStream() {
    return new InputStream() {
      /** Returns 1, since only reading shows whether bytes follow. */
      @Override
      public int available() {
        return 1;
      }

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] to, int offset, int count) throws IOException {
        return ByteSource.this.read(to, offset, count);
      }
    };
  }
}
