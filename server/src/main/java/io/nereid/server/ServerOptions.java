package io.nereid.server;

import io.nereid.NereidOptions;
import io.nereid.RepositoryOptions;
import io.nereid.server.http.HttpLimits;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * What a server serves, and where.
 *
 * @param repository which models are loaded
 * @param runtime settings of the runtime
 * @param httpAddress where the HTTP frontend listens
 * @param httpPort its port; 0 takes one that is free
 * @param httpLimits what clients may ask of it
 * @param exitTimeout how long requests that have begun may take when the server stops
 * @param exitOnError whether a model that cannot be loaded at the start ends the server
 * @param strictReadiness whether such a model makes it not ready
 */
public record ServerOptions(
    RepositoryOptions repository,
    NereidOptions runtime,
    InetAddress httpAddress,
    int httpPort,
    HttpLimits httpLimits,
    Duration exitTimeout,
    boolean exitOnError,
    boolean strictReadiness) {

  /** Checks the values. */
  public ServerOptions {
    Objects.requireNonNull(repository);
    Objects.requireNonNull(runtime);
    Objects.requireNonNull(httpAddress);
    Objects.requireNonNull(httpLimits);
    if (httpPort < 0 || httpPort > 65_535) {
      throw new IllegalArgumentException("httpPort must be 0 to 65535, got " + httpPort);
    }
    if (exitTimeout.isNegative()) {
      throw new IllegalArgumentException("exitTimeout must not be negative, got " + exitTimeout);
    }
  }
}
