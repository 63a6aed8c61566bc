package io.nereid.client;

import java.time.Duration;

/**
 * When a gRPC connection that has calls is taken for dead.
 *
 * @param silence how long nothing comes until the server is pinged; gRPC makes it 10 s at least
 * @param timeout how long it may take to answer that
 */
public record KeepAlive(Duration silence, Duration timeout) {

  /** Checks the values. */
  public KeepAlive {
    if (!silence.isPositive() || !timeout.isPositive()) {
      throw new IllegalArgumentException(
          "expected a silence and a timeout above 0, got " + silence + " and " + timeout);
    }
  }
}
