package io.nereid.server.http;

import io.nereid.server.access.AccessControl;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.Durations;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.tls.ServerTlsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of the HTTP frontend. Start from {@link #DEFAULT}.
 *
 * @param address the address that the frontend listens on
 * @param port its port; 0 takes one that is free
 * @param limits limits on clients' requests
 * @param exitTimeout how long requests that have begun may take when the server stops
 * @param access which requests may be made
 * @param allowedOrigins web pages that may ask for everything, by their origins such as {@code
 *     https://app.example}; {@code *} means all
 * @param forwarding which header fields become parameters; empty: none
 * @param tls the encryption of connections; empty: none
 * @param console the console that is served beside the protocol; empty: there is none
 * @param healthBodies whether answers about health have a body, as the protocol says; Triton's have
 *     none
 */
public record HttpOptions(
    InetAddress address,
    int port,
    HttpLimits limits,
    Duration exitTimeout,
    AccessControl access,
    Set<String> allowedOrigins,
    Optional<HeaderForwarding> forwarding,
    Optional<ServerTlsOptions> tls,
    Optional<ConsoleProvider> console,
    boolean healthBodies) {

  /** The longest origin: origins go into reply heads of bounded size; a host has 253 characters. */
  private static final int MAX_ORIGIN_LENGTH = 280;

  private static final Pattern ORIGIN =
      Pattern.compile("\\*|[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+])(:[1-9][0-9]{0,4})?");

  /** Options for a free port of the loopback address, open to all, not encrypted. */
  public static final HttpOptions DEFAULT =
      new HttpOptions(
          InetAddress.getLoopbackAddress(),
          0,
          HttpLimits.DEFAULT,
          Duration.ofSeconds(30),
          AccessControl.OPEN,
          Set.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          true);

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
    Objects.requireNonNull(console);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0 to 65535, got " + port);
    }
    if (exitTimeout.isNegative()) {
      throw new IllegalArgumentException("exitTimeout must not be negative, got " + exitTimeout);
    }
    exitTimeout = Durations.limited(exitTimeout);
  }

  /** True if a text is an origin as browsers send it, or {@code *}. */
  public static boolean isOrigin(String text) {
    return text.length() <= MAX_ORIGIN_LENGTH && ORIGIN.matcher(text).matches();
  }

  /** Returns a copy that listens at another address. */
  public HttpOptions withAddress(InetAddress listening) {
    return RecordCopy.with(this, "address", listening);
  }

  /** Returns a copy that listens at another port; 0 takes one that is free. */
  public HttpOptions withPort(int number) {
    return RecordCopy.with(this, "port", number);
  }

  /** Returns a copy with other limits. */
  public HttpOptions withLimits(HttpLimits others) {
    // Without reflection: a start that may open few files makes this copy.
    return new HttpOptions(
        address,
        port,
        others,
        exitTimeout,
        access,
        allowedOrigins,
        forwarding,
        tls,
        console,
        healthBodies);
  }

  /** Returns a copy that gives requests another time when the server stops. */
  public HttpOptions withExitTimeout(Duration timeout) {
    return RecordCopy.with(this, "exitTimeout", timeout);
  }

  /** Returns a copy with another access control. */
  public HttpOptions withAccess(AccessControl control) {
    return RecordCopy.with(this, "access", control);
  }

  /** Returns a copy that allows these origins. */
  public HttpOptions withAllowedOrigins(Set<String> origins) {
    return RecordCopy.with(this, "allowedOrigins", origins);
  }

  /** Returns a copy that turns these header fields into parameters. */
  public HttpOptions withForwarding(HeaderForwarding fields) {
    return RecordCopy.with(this, "forwarding", Optional.of(fields));
  }

  /** Returns a copy whose connections are encrypted. */
  public HttpOptions withTls(ServerTlsOptions files) {
    return RecordCopy.with(this, "tls", Optional.of(files));
  }

  /** Returns a copy whose answers about health have a body or none. */
  public HttpOptions withHealthBodies(boolean has) {
    return RecordCopy.with(this, "healthBodies", has);
  }

  /** Returns a copy with a console. */
  public HttpOptions withConsole(ConsoleProvider pages) {
    return RecordCopy.with(this, "console", Optional.of(pages));
  }
}
