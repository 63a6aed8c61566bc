package io.nereid.cli;

import io.nereid.server.access.AccessControl;
import io.nereid.server.grpc.GrpcCompression;
import io.nereid.server.grpc.GrpcKeepAlive;
import io.nereid.server.grpc.GrpcLimits;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.ServerTlsOptions.ClientCertificate;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for serving gRPC, with the limits for its clients. */
final class GrpcArguments extends Arguments {

  @Option(
      names = "--allow-grpc",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Serve gRPC; ${DEFAULT-VALUE} by default.")
  private boolean allowed = true;

  @Option(
      names = "--grpc-address",
      paramLabel = "ADDRESS",
      defaultValue = "0.0.0.0",
      description = "Where gRPC is served; ${DEFAULT-VALUE} by default.")
  private InetAddress address;

  @Option(
      names = "--grpc-port",
      paramLabel = "PORT",
      description = "Its port, 0 for one that is free; ${DEFAULT-VALUE} by default.")
  private int port = 8001;

  @Option(
      names = "--grpc-max-input-size",
      paramLabel = "BYTES",
      description = "The largest message that is received; ${DEFAULT-VALUE} by default.")
  private int maxInputSize = GrpcLimits.DEFAULT.messageBytes();

  @Option(
      names = "--grpc-max-total-input-size",
      paramLabel = "BYTES",
      description =
          "Most bytes of messages that are not complete, or whose unary call is not, of all"
              + " connections together; 0, the default: half of the direct memory, which is as"
              + " large as the heap if nothing else is said.")
  private long maxTotalInputSize;

  @Option(
      names = "--grpc-request-timeout-secs",
      paramLabel = "SECONDS",
      description =
          "How long a client may take to send a message, or the next MiB of it, and to take some"
              + " of a reply; ${DEFAULT-VALUE} by default.")
  private long requestTimeoutSeconds = GrpcLimits.DEFAULT.requestTime().toSeconds();

  @Option(
      names = "--grpc-max-metadata-size",
      paramLabel = "BYTES",
      description = "The largest metadata of a call; ${DEFAULT-VALUE} by default.")
  private int maxMetadataSize = GrpcLimits.DEFAULT.metadataBytes();

  @Option(
      names = "--grpc-max-concurrent-calls",
      paramLabel = "N",
      description = "Most calls at a time on one connection; ${DEFAULT-VALUE} by default.")
  private int maxCalls = GrpcLimits.DEFAULT.callCount();

  @Option(
      names = "--grpc-max-connections",
      paramLabel = "N",
      description = "Most connections at a time; ${DEFAULT-VALUE} by default.")
  private int maxConnections = GrpcLimits.DEFAULT.connectionCount();

  @Option(
      names = "--grpc-infer-response-compression-level",
      paramLabel = "LEVEL",
      defaultValue = "none",
      description =
          "none, low, medium or high: how much replies are compressed for clients that take them"
              + " so; ${DEFAULT-VALUE} by default.")
  private GrpcCompression compression;

  @Option(
      names = "--grpc-keepalive-time",
      paramLabel = "MS",
      description =
          "How long a connection is silent before its client is pinged; ${DEFAULT-VALUE} by"
              + " default.")
  private long keepAliveMs = GrpcKeepAlive.DEFAULT.pingAfter().toMillis();

  @Option(
      names = "--grpc-keepalive-timeout",
      paramLabel = "MS",
      description =
          "When a client that does not answer is taken for dead; ${DEFAULT-VALUE} by default.")
  private long keepAliveTimeoutMs = GrpcKeepAlive.DEFAULT.pingTimeout().toMillis();

  @Option(
      names = "--grpc-keepalive-permit-without-calls",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Let clients ping while they have no calls; ${DEFAULT-VALUE} by default.")
  private boolean pingsWithoutCalls;

  @Option(
      names = "--grpc-http2-min-recv-ping-interval-without-data",
      paramLabel = "MS",
      description =
          "How often a client may ping; one that pings more is sent away; ${DEFAULT-VALUE} by"
              + " default.")
  private long leastPingIntervalMs = GrpcKeepAlive.DEFAULT.leastPingInterval().toMillis();

  @Option(
      names = "--grpc-max-connection-age",
      paramLabel = "MS",
      description = "When a client is asked to connect again; 0, the default: never.")
  private long maxAgeMs;

  @Option(
      names = "--grpc-max-connection-age-grace",
      paramLabel = "MS",
      description = "How long its calls may go on then; 0, the default: until they end.")
  private long maxAgeGraceMs;

  @Option(
      names = "--grpc-use-ssl",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Encrypt gRPC with certificates of its own, not those of --tls-cert.")
  private boolean useSsl;

  @Option(
      names = "--grpc-use-ssl-mutual",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "The same, and clients need certificates that lead to --grpc-root-cert.")
  private boolean useSslMutual;

  @Option(
      names = "--grpc-server-cert",
      paramLabel = "FILE",
      description = "The server's certificate chain (PEM) for --grpc-use-ssl.")
  private Path certificate;

  @Option(
      names = "--grpc-server-key",
      paramLabel = "FILE",
      description = "Its private key (PEM, not encrypted).")
  private Path key;

  @Option(
      names = "--grpc-root-cert",
      paramLabel = "FILE",
      description = "Certificates (PEM) that those of clients must lead to.")
  private Path clientCa;

  @Option(
      names = "--grpc-header-forward-pattern",
      paramLabel = "REGEX",
      description =
          "Metadata in whose names this is found becomes parameters of inference requests.")
  private String forwardPattern;

  /**
   * The options; empty: gRPC is not served.
   *
   * @param tls encryption, unless gRPC has its own
   */
  Optional<GrpcOptions> options(Optional<ServerTlsOptions> tls, AccessControl access) {
    if (!allowed) {
      return Optional.empty();
    }
    return Optional.of(
        new GrpcOptions(
            address,
            port("--grpc-port", port),
            limits(),
            keepAlive(),
            compression,
            access,
            forwarding("--grpc-header-forward-pattern", forwardPattern),
            ownTls().or(() -> tls)));
  }

  private Optional<ServerTlsOptions> ownTls() {
    boolean used = useSsl || useSslMutual;
    boolean complete =
        used
            ? certificate != null && key != null && (clientCa != null || !useSslMutual)
            : certificate == null && key == null && clientCa == null;
    if (!complete) {
      throw wrong(
          "--grpc-use-ssl with --grpc-server-cert and --grpc-server-key, and"
              + " --grpc-use-ssl-mutual with --grpc-root-cert as well",
          "one without the other");
    }
    if (!used) {
      return Optional.empty();
    }
    return Optional.of(
        useSslMutual
            ? ServerTlsOptions.of(certificate, key, clientCa, ClientCertificate.REQUIRED)
            : ServerTlsOptions.of(certificate, key));
  }

  private GrpcLimits limits() {
    return new GrpcLimits(
        atLeast(1, "--grpc-max-input-size", maxInputSize),
        atLeast(0, "--grpc-max-total-input-size", maxTotalInputSize),
        seconds("--grpc-request-timeout-secs", requestTimeoutSeconds),
        atLeast(1, "--grpc-max-metadata-size", maxMetadataSize),
        atLeast(1, "--grpc-max-concurrent-calls", maxCalls),
        atLeast(1, "--grpc-max-connections", maxConnections));
  }

  private GrpcKeepAlive keepAlive() {
    return new GrpcKeepAlive(
        ms(1, "--grpc-keepalive-time", keepAliveMs),
        ms(1, "--grpc-keepalive-timeout", keepAliveTimeoutMs),
        ms(0, "--grpc-http2-min-recv-ping-interval-without-data", leastPingIntervalMs),
        pingsWithoutCalls,
        unlessZero(ms(0, "--grpc-max-connection-age", maxAgeMs)),
        unlessZero(ms(0, "--grpc-max-connection-age-grace", maxAgeGraceMs)));
  }

  private Duration ms(long least, String flag, long got) {
    return Duration.ofMillis(atLeast(least, flag, got));
  }

  private static Optional<Duration> unlessZero(Duration time) {
    return Optional.of(time).filter(Duration::isPositive);
  }
}
