package io.nereid.server.http;

import io.nereid.server.http.seam.SeamLimits;
import io.nereid.server.shared.Durations;
import java.time.Duration;

/**
 * The limits of the HTTP frontend for clients.
 *
 * @param bodyBytes the largest request body, and the largest tensor that JSON may expand to
 * @param headBytes the longest request line and header fields together
 * @param chunkCount most chunks of a chunked body
 * @param jsonDepth how deep JSON may be nested
 * @param connectionCount most connections at once
 * @param requestTime how long a client may take to send a request, and to take its response
 * @param idleTime how long a connection may wait for its next request
 */
public record HttpLimits(
    long bodyBytes,
    int headBytes,
    int chunkCount,
    int jsonDepth,
    int connectionCount,
    Duration requestTime,
    Duration idleTime) {

  /** The least for {@code headBytes}: a path with a model's name has to fit. */
  public static final int LEAST_HEAD_BYTES = 256;

  /** The default limits. */
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          64L << 20,
          16 << 10,
          65_536,
          100,
          10_000,
          Duration.ofSeconds(120),
          Duration.ofSeconds(75));

  /** Checks the values. */
  public HttpLimits {
    positive(bodyBytes, "bodyBytes");
    if (headBytes < LEAST_HEAD_BYTES) {
      throw new IllegalArgumentException(
          "headBytes must be " + LEAST_HEAD_BYTES + " or more, got " + headBytes);
    }
    positive(chunkCount, "chunkCount");
    positive(jsonDepth, "jsonDepth");
    positive(connectionCount, "connectionCount");
    requestTime = Durations.limited(requestTime);
    idleTime = Durations.limited(idleTime);
    positive(requestTime.toMillis(), "requestTime");
    positive(idleTime.toMillis(), "idleTime");
  }

  /** Returns a copy with another number of connections. */
  public HttpLimits withConnectionCount(int count) {
    // Without reflection: a start that may open few files makes this copy.
    return new HttpLimits(
        bodyBytes, headBytes, chunkCount, jsonDepth, count, requestTime, idleTime);
  }

  /** The limits that the connections themselves enforce. */
  SeamLimits ofConnections() {
    return new SeamLimits(headBytes, bodyBytes, connectionCount, requestTime, idleTime);
  }

  private static void positive(long value, String name) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be positive, got " + value);
    }
  }
}
