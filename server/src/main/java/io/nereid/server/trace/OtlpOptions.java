package io.nereid.server.trace;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/**
 * Says how traces are sent to an OpenTelemetry collector.
 *
 * @param url where OTLP over HTTP is received
 * @param resource attributes of this server in traces; they override the environment's
 * @param queueSize most traces that wait to be sent; further ones are dropped
 * @param delay how long a trace waits for others in its batch
 * @param batchSize most traces sent at a time
 */
public record OtlpOptions(
    URI url, Map<String, String> resource, int queueSize, Duration delay, int batchSize) {

  /** The options for a collector on this machine. */
  public static final OtlpOptions DEFAULT =
      new OtlpOptions(
          URI.create("http://localhost:4318/v1/traces"),
          Map.of(),
          2048,
          Duration.ofSeconds(5),
          512);

  /** Checks the values. */
  public OtlpOptions {
    Objects.requireNonNull(url);
    Objects.requireNonNull(delay);
    resource = Map.copyOf(resource);
    boolean http = "http".equalsIgnoreCase(url.getScheme());
    if ((!http && !"https".equalsIgnoreCase(url.getScheme())) || url.getHost() == null) {
      throw new IllegalArgumentException("url must be http://HOST... or https://..., got " + url);
    }
    if (batchSize < 1 || batchSize > queueSize) {
      throw new IllegalArgumentException(
          "batchSize must be 1 to queueSize, got " + batchSize + " and " + queueSize);
    }
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay must not be negative, got " + delay);
    }
  }
}
