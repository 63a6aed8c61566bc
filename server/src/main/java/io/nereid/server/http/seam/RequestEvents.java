package io.nereid.server.http.seam;

/**
 * Hears of the requests of one connection, one after the other, on the thread that serves them.
 * Each connection has its own object, which can keep buffers and readers between requests.
 */
public interface RequestEvents {

  /** Called when a request begins, with its first bytes there. */
  default void began() {}

  /**
   * Answers a request whose head is, byte for byte, that of the last one, on the thread of a round;
   * its body is {@code length} bytes from {@code from} on. Called only after the last request was
   * kept ({@link ClientReader#keepHead}).
   */
  default void repeated(byte[] bytes, int from, int length) {
    throw new IllegalStateException("nothing was kept");
  }

  /** Called with the status of a reply before its head is written. */
  default void replying(int status) {}

  /** Called at the end of a request, answered or not. */
  default void ended() {}
}
