package io.nereid.server.shared;

import java.io.IOException;

/** Bytes that somebody sends, taken one after the other by one thread. */
public interface ByteSource {

  /** Some of the next bytes, at least one; -1 at the end. */
  int read(byte[] to, int offset, int count) throws IOException;

  /** Takes heap memory that is held until the request is done with; fails when there is none. */
  default void takeHeap(long bytes) {}
}
