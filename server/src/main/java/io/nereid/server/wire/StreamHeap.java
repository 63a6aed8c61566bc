package io.nereid.server.wire;

import java.util.List;

/**
 * What the streams of a connection count with in the heap's budget, from their heads until they
 * end. Everything is called on the connection's loop.
 */
final class StreamHeap {

  /** A stream, and whoever serves it, with a head of the usual size. */
  private static final int STREAM_BYTES = 2 << 10;

  private static final int FREE_HEAD_BYTES = 1 << 10;

  private List<String> lastFields; // the same list means the same head

  /** Bytes of a stream that begins with such a head; one that the last stream has, too, is free. */
  int bytes(List<String> fields) {
    int head = 0;
    if (fields != lastFields) {
      lastFields = fields;
      for (String field : fields) {
        head += field.length();
      }
    }
    return STREAM_BYTES + Math.max(0, head - FREE_HEAD_BYTES);
  }
}
