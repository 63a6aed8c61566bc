package io.nereid.server.http;

/**
 * What connections hold of the heap, as it was measured with thousands of them after a full
 * collection, rounded up. docs/scaling.md says how.
 */
public final class HeapCosts {

  /** One whose client has sent nothing yet: its thread, its channel, its deadline. */
  static final int WAITING_BYTES = 4 << 10;

  /**
   * What it has beside the input's buffer from the first byte on: that of replies, that of JSON.
   */
  private static final int BUFFERS_BYTES = 32 << 10;

  /** What encryption adds: the keys' state, and a record each way and one that was deciphered. */
  private static final int TLS_BYTES = 64 << 10;

  /** A stream of HTTP/2, with a piece of a body that waits to be read. */
  static final int STREAM_BYTES = 48 << 10;

  /** A connection that is used, without encryption, from its first byte on. */
  public static final int CONNECTION_BYTES = WAITING_BYTES + BUFFERS_BYTES + (16 << 10);

  private HeapCosts() {}

  /** What a connection takes with its first byte. */
  static long ofBuffers(ClientChannel channel, int inputBytes) {
    return inputBytes + BUFFERS_BYTES + (channel.isEncrypted() ? TLS_BYTES : 0);
  }
}
