package io.nereid.server.grpc;

/**
 * What a client may ask of the gRPC frontend.
 *
 * @param messageBytes the largest message that is received, after decompression
 * @param metadataBytes the largest metadata of a call
 * @param callCount most calls at a time on one connection; more wait at the client
 * @param connectionCount most connections at once
 */
public record GrpcLimits(int messageBytes, int metadataBytes, int callCount, int connectionCount) {

  /** What a connection holds of the heap: measured with thousands of them, rounded up. */
  public static final int CONNECTION_BYTES = 16 << 10;

  /** What applies when nothing is said. Messages are then as large as gRPC can have them. */
  public static final GrpcLimits DEFAULT =
      new GrpcLimits(Integer.MAX_VALUE, 16 << 10, 10_000, 10_000);

  /** Checks the values. */
  public GrpcLimits {
    positive(messageBytes, "messageBytes");
    positive(metadataBytes, "metadataBytes");
    positive(callCount, "callCount");
    positive(connectionCount, "connectionCount");
  }

  /** The same with another number of connections. */
  public GrpcLimits withConnectionCount(int count) {
    return new GrpcLimits(messageBytes, metadataBytes, callCount, count);
  }

  private static void positive(int value, String name) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be positive, got " + value);
    }
  }
}
