package io.nereid.server.http.seam;

/**
 * Hears of the requests of one connection, one after the other, on the thread that serves them.
 * Each connection has its own, so that buffers and readers can be kept from one request to the
 * next.
 */
public interface RequestEvents {

  /** A request begins; its first bytes are there. */
  default void began() {}

  /**
   * Answers a request whose head is, byte for byte, that of the last one, on the thread of a round;
   * its body is {@code length} bytes from {@code from} on. Called only after the last request was
   * kept ({@link ClientReader#keepHead}).
   */
  default void repeated(byte[] bytes, int from, int length) {
    throw new IllegalStateException("nothing was kept");
  }

  /** The status of the reply is known, and the head is about to be written. */
  default void replying(int status) {}

  /** The request is done with, whether it was answered or not. */
  default void ended() {}
}
