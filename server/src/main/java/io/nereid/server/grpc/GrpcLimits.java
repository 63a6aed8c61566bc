package io.nereid.server.grpc;

import io.nereid.server.shared.Durations;
import java.time.Duration;

/**
 * The limits of the gRPC frontend for clients.
 *
 * @param messageBytes the largest message that is received, after decompression
 * @param unfinishedBytes most bytes of messages that are not complete, of all connections together;
 *     0: half of the direct memory of this process
 * @param requestTime how long a client may take to send a message, or the next MiB of it, and to
 *     take some of a reply
 * @param metadataBytes the largest metadata of a call
 * @param callCount most calls at a time on one connection; more wait at the client
 * @param connectionCount most connections at once
 */
public record GrpcLimits(
    int messageBytes,
    long unfinishedBytes,
    Duration requestTime,
    int metadataBytes,
    int callCount,
    int connectionCount) {

  /** The heap that a connection holds: measured with thousands of them, rounded up. */
  public static final int CONNECTION_BYTES = 16 << 10;

  /** The default limits: messages may be as large as gRPC allows. */
  public static final GrpcLimits DEFAULT =
      new GrpcLimits(Integer.MAX_VALUE, 0, Duration.ofSeconds(120), 16 << 10, 10_000, 10_000);

  /** Checks the values. */
  public GrpcLimits {
    positive(messageBytes, "messageBytes");
    if (unfinishedBytes < 0) {
      throw new IllegalArgumentException(
          "unfinishedBytes must not be negative, got " + unfinishedBytes);
    }
    requestTime = Durations.limited(requestTime);
    positive(requestTime.toMillis(), "requestTime");
    positive(metadataBytes, "metadataBytes");
    positive(callCount, "callCount");
    positive(connectionCount, "connectionCount");
  }

  /** Returns a copy with another number of connections. */
  public GrpcLimits withConnectionCount(int count) {
    // Without reflection: a start that may open few files makes this copy.
    return new GrpcLimits(
        messageBytes, unfinishedBytes, requestTime, metadataBytes, callCount, count);
  }

  private static void positive(long value, String name) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be positive, got " + value);
    }
  }
}
