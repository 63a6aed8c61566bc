package io.nereid.cli;

import io.nereid.server.access.AccessControl;
import io.nereid.server.http.ConsoleProvider;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.tls.ServerTlsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Option;

/** The flags for serving HTTP, with the limits for its clients. */
final class HttpArguments extends Arguments {

  @Option(
      names = "--allow-http",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Serve HTTP; ${DEFAULT-VALUE} by default.")
  private boolean allowed = true;

  @Option(
      names = "--http-address",
      paramLabel = "ADDRESS",
      defaultValue = "0.0.0.0",
      description = "Where HTTP is served; ${DEFAULT-VALUE} by default.")
  private InetAddress address;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description = "Its port, 0 for one that is free; ${DEFAULT-VALUE} by default.")
  private int port = 8000;

  @Option(
      names = "--http-max-input-size",
      paramLabel = "BYTES",
      description = "The largest request body; ${DEFAULT-VALUE} by default.")
  private long maxInputSize = HttpLimits.DEFAULT.bodyBytes();

  @Option(
      names = "--http-max-header-size",
      paramLabel = "BYTES",
      description = "The longest request line and header fields; ${DEFAULT-VALUE} by default.")
  private int maxHeaderSize = HttpLimits.DEFAULT.headBytes();

  @Option(
      names = "--http-max-chunks",
      paramLabel = "N",
      description = "Most chunks of a chunked body; ${DEFAULT-VALUE} by default.")
  private int maxChunks = HttpLimits.DEFAULT.chunkCount();

  @Option(
      names = "--http-max-json-depth",
      paramLabel = "N",
      description = "How deep JSON may be nested; ${DEFAULT-VALUE} by default.")
  private int maxJsonDepth = HttpLimits.DEFAULT.jsonDepth();

  @Option(
      names = "--http-max-connections",
      paramLabel = "N",
      description = "Most connections at a time; ${DEFAULT-VALUE} by default.")
  private int maxConnections = HttpLimits.DEFAULT.connectionCount();

  @Option(
      names = "--http-request-timeout-secs",
      paramLabel = "SECONDS",
      description =
          "How long a client may take to send a request, and to take its response;"
              + " ${DEFAULT-VALUE} by default.")
  private long requestTimeoutSeconds = HttpLimits.DEFAULT.requestTime().toSeconds();

  @Option(
      names = "--http-idle-timeout-secs",
      paramLabel = "SECONDS",
      description =
          "How long a connection may wait for its next request; ${DEFAULT-VALUE} by default.")
  private long idleTimeoutSeconds = HttpLimits.DEFAULT.idleTime().toSeconds();

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

  @Option(
      names = "--http-health-body",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Whether answers about health have a body, as the protocol says; scripts that were made"
              + " for Triton may want none. ${DEFAULT-VALUE} by default.")
  private boolean healthBodies = true;

  InetAddress address() {
    return address;
  }

  /** The options; empty: HTTP is not served. */
  Optional<HttpOptions> options(
      Duration exitTimeout,
      Optional<ServerTlsOptions> tls,
      AccessControl access,
      Optional<ConsoleProvider> console) {
    HttpOptions options =
        new HttpOptions(
            address,
            port("--http-port", port),
            limits(),
            exitTimeout,
            access,
            allowedOrigins(),
            forwarding("--http-header-forward-pattern", forwardPattern),
            tls,
            console,
            healthBodies);
    return allowed ? Optional.of(options) : Optional.empty();
  }

  private Set<String> allowedOrigins() {
    for (String origin : allowedOrigins) {
      if (!HttpOptions.isOrigin(origin)) {
        throw wrong(
            "--http-allowed-origin as SCHEME://HOST[:PORT] in lower case, or *",
            "'" + origin + "'");
      }
    }
    return Set.copyOf(allowedOrigins);
  }

  private HttpLimits limits() {
    return new HttpLimits(
        atLeast(1, "--http-max-input-size", maxInputSize),
        atLeast(HttpLimits.LEAST_HEAD_BYTES, "--http-max-header-size", maxHeaderSize),
        atLeast(1, "--http-max-chunks", maxChunks),
        atLeast(1, "--http-max-json-depth", maxJsonDepth),
        atLeast(1, "--http-max-connections", maxConnections),
        seconds("--http-request-timeout-secs", requestTimeoutSeconds),
        seconds("--http-idle-timeout-secs", idleTimeoutSeconds));
  }
}
