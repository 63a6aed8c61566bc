package io.nereid.server.http;

import io.nereid.server.access.AccessControl;
import io.nereid.server.shared.Durations;
import io.nereid.server.tls.TlsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Where HTTP is served, and how. Build one with {@link #builder()}.
 *
 * @param address where the frontend listens
 * @param port its port; 0 takes one that is free
 * @param limits what clients may ask of it
 * @param exitTimeout how long requests that have begun may take when the server stops
 * @param access which requests may be made
 * @param tls how connections are encrypted; empty: they are not
 */
public record HttpOptions(
    InetAddress address,
    int port,
    HttpLimits limits,
    Duration exitTimeout,
    AccessControl access,
    Optional<TlsOptions> tls) {

  /** Checks the values. */
  public HttpOptions {
    Objects.requireNonNull(address);
    Objects.requireNonNull(limits);
    Objects.requireNonNull(access);
    Objects.requireNonNull(tls);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0 to 65535, got " + port);
    }
    if (exitTimeout.isNegative()) {
      throw new IllegalArgumentException("exitTimeout must not be negative, got " + exitTimeout);
    }
    exitTimeout = Durations.limited(exitTimeout);
  }

  /** The same with other limits. */
  public HttpOptions withLimits(HttpLimits others) {
    return new HttpOptions(address, port, others, exitTimeout, access, tls);
  }

  /** A builder with the defaults: a free port of the loopback address. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link HttpOptions}. */
  public static final class Builder {
    private InetAddress address = InetAddress.getLoopbackAddress();
    private int port;
    private HttpLimits limits = HttpLimits.DEFAULT;
    private Duration exitTimeout = Duration.ofSeconds(30);
    private AccessControl access = AccessControl.OPEN;
    private Optional<TlsOptions> tls = Optional.empty();

    private Builder() {}

    /** Where the frontend listens. */
    public Builder address(InetAddress listening) {
      address = listening;
      return this;
    }

    /** Its port; 0 takes one that is free. */
    public Builder port(int number) {
      port = number;
      return this;
    }

    /** What clients may ask of it. */
    public Builder limits(HttpLimits most) {
      limits = most;
      return this;
    }

    /** How long requests that have begun may take when the server stops; 30 s by default. */
    public Builder exitTimeout(Duration timeout) {
      exitTimeout = timeout;
      return this;
    }

    /** Which requests may be made; all by default. */
    public Builder access(AccessControl control) {
      access = control;
      return this;
    }

    /** How connections are encrypted; they are not by default. */
    public Builder tls(TlsOptions options) {
      tls = Optional.of(options);
      return this;
    }

    /** The finished value. */
    public HttpOptions build() {
      return new HttpOptions(address, port, limits, exitTimeout, access, tls);
    }
  }
}
