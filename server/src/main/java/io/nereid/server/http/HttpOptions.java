package io.nereid.server.http;

import io.nereid.server.access.AccessControl;
import io.nereid.server.shared.Durations;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.tls.TlsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Where HTTP is served, and how. Build one with {@link #builder()}.
 *
 * @param address where the frontend listens
 * @param port its port; 0 takes one that is free
 * @param limits what clients may ask of it
 * @param exitTimeout how long requests that have begun may take when the server stops
 * @param access which requests may be made
 * @param allowedOrigins web pages that may ask for everything, by their origins such as {@code
 *     https://app.example}; {@code *} means all
 * @param forwarding which header fields become parameters; empty: none
 * @param tls how connections are encrypted; empty: they are not
 */
public record HttpOptions(
    InetAddress address,
    int port,
    HttpLimits limits,
    Duration exitTimeout,
    AccessControl access,
    Set<String> allowedOrigins,
    Optional<HeaderForwarding> forwarding,
    Optional<TlsOptions> tls) {

  /** Origins go into the heads of replies, whose room is bounded; a host has 253 characters. */
  private static final int MAX_ORIGIN_LENGTH = 280;

  private static final Pattern ORIGIN =
      Pattern.compile("\\*|[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+])(:[1-9][0-9]{0,4})?");

  /** Checks the values. */
  public HttpOptions {
    Objects.requireNonNull(address);
    Objects.requireNonNull(limits);
    Objects.requireNonNull(access);
    allowedOrigins = Set.copyOf(allowedOrigins);
    for (String origin : allowedOrigins) {
      if (!isOrigin(origin)) {
        throw new IllegalArgumentException(
            "expected an origin as SCHEME://HOST[:PORT] in lower case, or *, got '" + origin + "'");
      }
    }
    Objects.requireNonNull(forwarding);
    Objects.requireNonNull(tls);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0 to 65535, got " + port);
    }
    if (exitTimeout.isNegative()) {
      throw new IllegalArgumentException("exitTimeout must not be negative, got " + exitTimeout);
    }
    exitTimeout = Durations.limited(exitTimeout);
  }

  /** Whether a text is an origin as browsers send it, or {@code *}. */
  public static boolean isOrigin(String text) {
    return text.length() <= MAX_ORIGIN_LENGTH && ORIGIN.matcher(text).matches();
  }

  /** The same with other limits. */
  public HttpOptions withLimits(HttpLimits others) {
    return new HttpOptions(
        address, port, others, exitTimeout, access, allowedOrigins, forwarding, tls);
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
    private Set<String> allowedOrigins = Set.of();
    private Optional<HeaderForwarding> forwarding = Optional.empty();
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

    /** Web pages that may ask for everything; by default none may change anything. */
    public Builder allowedOrigins(Set<String> origins) {
      allowedOrigins = origins;
      return this;
    }

    /** Which header fields become parameters; none by default. */
    public Builder forwarding(HeaderForwarding fields) {
      forwarding = Optional.of(fields);
      return this;
    }

    /** How connections are encrypted; they are not by default. */
    public Builder tls(TlsOptions options) {
      tls = Optional.of(options);
      return this;
    }

    /** The finished value. */
    public HttpOptions build() {
      return new HttpOptions(
          address, port, limits, exitTimeout, access, allowedOrigins, forwarding, tls);
    }
  }
}
