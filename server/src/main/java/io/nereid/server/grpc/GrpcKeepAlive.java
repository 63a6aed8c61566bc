package io.nereid.server.grpc;

import java.time.Duration;
import java.util.Optional;

/**
 * The life of gRPC's connections, and the pings that tell whether their clients are still there.
 *
 * @param pingAfter how long a connection is silent before its client is pinged
 * @param pingTimeout when a client that does not answer counts as dead
 * @param leastPingInterval how often a client may ping; one that pings more is disconnected
 * @param pingsWithoutCalls whether a client may ping that often while it has no calls
 * @param maxAge when a client is asked to connect again; empty: never
 * @param maxAgeGrace how long its calls may go on then; empty: until they end
 */
public record GrpcKeepAlive(
    Duration pingAfter,
    Duration pingTimeout,
    Duration leastPingInterval,
    boolean pingsWithoutCalls,
    Optional<Duration> maxAge,
    Optional<Duration> maxAgeGrace) {

  /** The default times. */
  public static final GrpcKeepAlive DEFAULT =
      new GrpcKeepAlive(
          Duration.ofHours(2),
          Duration.ofSeconds(20),
          Duration.ofMinutes(5),
          false,
          Optional.empty(),
          Optional.empty());

  /** Checks the values. */
  public GrpcKeepAlive {
    positive(pingAfter, "pingAfter");
    positive(pingTimeout, "pingTimeout");
    if (leastPingInterval.isNegative()) {
      throw new IllegalArgumentException(
          "leastPingInterval must not be negative, got " + leastPingInterval);
    }
    maxAge.ifPresent(age -> positive(age, "maxAge"));
    maxAgeGrace.ifPresent(grace -> positive(grace, "maxAgeGrace"));
  }

  private static void positive(Duration value, String name) {
    if (!value.isPositive()) {
      throw new IllegalArgumentException(name + " must be positive, got " + value);
    }
  }
}
