package io.nereid.server.wire;

import io.nereid.server.shared.HeapBudget;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * What all connections of a port share, and what they cost. The costs were measured with thousands
 * of connections after a full collection, and rounded up; docs/scaling.md says how.
 *
 * @param limits what clients may ask
 * @param watch all connections
 * @param heap what connections and requests may hold of it
 * @param stopping whether the server takes no more requests
 * @param handlers makes what answers requests, of one after the other
 * @param connectionHint what those are told beside the limit who come when there are too many
 */
public record WireContext(
    WireLimits limits,
    ConnectionWatch watch,
    HeapBudget heap,
    BooleanSupplier stopping,
    Function<HttpExchange, HttpHandler> handlers,
    String connectionHint) {

  /** A connection whose client has sent nothing yet: its thread, its channel, its deadline. */
  static final int WAITING_BYTES = 4 << 10;

  /**
   * What it has beside the input's buffer from the first byte on: that of replies, that of JSON.
   */
  private static final int BUFFERS_BYTES = 32 << 10;

  /** What encryption adds: the keys' state, and a record each way and one that was deciphered. */
  private static final int TLS_BYTES = 64 << 10;

  /** What serves the streams of HTTP/2, with a piece of a body that waits to be read. */
  static final int STREAM_BYTES = 48 << 10;

  /** A connection that is used, without encryption, from its first byte on. */
  public static final int CONNECTION_BYTES = WAITING_BYTES + BUFFERS_BYTES + (16 << 10);

  /** What a connection takes with its first byte. */
  static long bufferBytes(ClientChannel channel, int inputBytes) {
    return inputBytes + BUFFERS_BYTES + (channel.isEncrypted() ? TLS_BYTES : 0);
  }
}
