package io.nereid.cli;

import io.nereid.server.access.AccessControl;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.tls.TlsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where HTTP is served, and what its clients may ask for. */
final class HttpArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--allow-http",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description = "Serve HTTP; ${DEFAULT-VALUE} by default.")
  private boolean allowed;

  @Option(
      names = "--http-address",
      paramLabel = "ADDRESS",
      defaultValue = "0.0.0.0",
      description = "Where HTTP is served; ${DEFAULT-VALUE} by default.")
  private InetAddress address;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      defaultValue = "8000",
      description = "Its port, 0 for one that is free; ${DEFAULT-VALUE} by default.")
  private int port;

  @Option(
      names = "--http-max-input-size",
      paramLabel = "BYTES",
      defaultValue = "67108864",
      description = "The largest request body; ${DEFAULT-VALUE} by default.")
  private long maxInputSize;

  @Option(
      names = "--http-max-header-size",
      paramLabel = "BYTES",
      defaultValue = "16384",
      description = "The longest request line and header fields; ${DEFAULT-VALUE} by default.")
  private int maxHeaderSize;

  @Option(
      names = "--http-max-chunks",
      paramLabel = "N",
      defaultValue = "65536",
      description = "Most chunks of a chunked body; ${DEFAULT-VALUE} by default.")
  private int maxChunks;

  @Option(
      names = "--http-max-json-depth",
      paramLabel = "N",
      defaultValue = "100",
      description = "How deep JSON may be nested; ${DEFAULT-VALUE} by default.")
  private int maxJsonDepth;

  @Option(
      names = "--http-max-connections",
      paramLabel = "N",
      defaultValue = "10000",
      description =
          "Most connections, and streams of HTTP/2, at a time; ${DEFAULT-VALUE} by default.")
  private int maxConnections;

  @Option(
      names = "--http-request-timeout-secs",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description =
          "How long a client may take to send a request, and to take its response;"
              + " ${DEFAULT-VALUE} by default.")
  private long requestTimeoutSeconds;

  @Option(
      names = "--http-idle-timeout-secs",
      paramLabel = "SECONDS",
      defaultValue = "75",
      description =
          "How long a connection may wait for its next request; ${DEFAULT-VALUE} by default.")
  private long idleTimeoutSeconds;

  @Option(
      names = "--http-allowed-origin",
      paramLabel = "ORIGIN",
      description =
          "A web page's origin, such as https://app.example, whose scripts may use this server and"
              + " read its answers; repeatable, * for all. Others may change nothing.")
  private List<String> allowedOrigins = List.of();

  @Option(
      names = "--http-header-forward-pattern",
      paramLabel = "REGEX",
      description =
          "Header fields in whose names this is found become parameters of inference requests.")
  private String forwardPattern;

  InetAddress address() {
    return address;
  }

  /** Empty where HTTP is not to be served. */
  Optional<HttpOptions> options(
      Duration exitTimeout, Optional<TlsOptions> tls, AccessControl access) {
    check(port >= 0 && port <= 65_535, "--http-port from 0 to 65535", port);
    HttpOptions.Builder options =
        HttpOptions.builder()
            .address(address)
            .port(port)
            .limits(limits())
            .exitTimeout(exitTimeout)
            .access(access)
            .allowedOrigins(allowedOrigins());
    tls.ifPresent(options::tls);
    ForwardArgument.parse(command, "--http-header-forward-pattern", forwardPattern)
        .ifPresent(options::forwarding);
    return allowed ? Optional.of(options.build()) : Optional.empty();
  }

  private Set<String> allowedOrigins() {
    for (String origin : allowedOrigins) {
      if (!HttpOptions.isOrigin(origin)) {
        throw new ParameterException(
            command.commandLine(),
            "expected --http-allowed-origin as SCHEME://HOST[:PORT] in lower case, or *, got '"
                + origin
                + "'");
      }
    }
    return Set.copyOf(allowedOrigins);
  }

  private HttpLimits limits() {
    check(maxInputSize > 0, "--http-max-input-size of 1 or more", maxInputSize);
    check(
        maxHeaderSize >= HttpLimits.LEAST_HEAD_BYTES,
        "--http-max-header-size of " + HttpLimits.LEAST_HEAD_BYTES + " or more",
        maxHeaderSize);
    check(maxChunks > 0, "--http-max-chunks of 1 or more", maxChunks);
    check(maxJsonDepth > 0, "--http-max-json-depth of 1 or more", maxJsonDepth);
    check(maxConnections > 0, "--http-max-connections of 1 or more", maxConnections);
    check(
        requestTimeoutSeconds > 0,
        "--http-request-timeout-secs of 1 or more",
        requestTimeoutSeconds);
    check(idleTimeoutSeconds > 0, "--http-idle-timeout-secs of 1 or more", idleTimeoutSeconds);
    return new HttpLimits(
        maxInputSize,
        maxHeaderSize,
        maxChunks,
        maxJsonDepth,
        maxConnections,
        Duration.ofSeconds(requestTimeoutSeconds),
        Duration.ofSeconds(idleTimeoutSeconds));
  }

  private void check(boolean holds, String expected, long got) {
    if (!holds) {
      throw new ParameterException(command.commandLine(), "expected " + expected + ", got " + got);
    }
  }
}
