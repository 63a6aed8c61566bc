package io.nereid.server.wire;

import java.time.Duration;

/**
 * What clients may ask of a port.
 *
 * @param bodyBytes the largest request body, decompressed
 * @param headBytes the longest request line and header fields together
 * @param chunkCount most chunks of a chunked body
 * @param connectionCount most connections at once, and most streams of HTTP/2
 * @param requestTime how long a client may take to send a request, and to take its response
 * @param idleTime how long a connection may wait for its next request
 */
public record WireLimits(
    long bodyBytes,
    int headBytes,
    int chunkCount,
    int connectionCount,
    Duration requestTime,
    Duration idleTime) {

  /** Streams of one connection of HTTP/2 at a time. */
  public static final int MAX_STREAMS = 128;

  /** What a port has that nobody says anything else of. */
  public static final WireLimits USUAL =
      new WireLimits(
          64L << 20, 16 << 10, 65_536, 10_000, Duration.ofSeconds(120), Duration.ofSeconds(75));
}
