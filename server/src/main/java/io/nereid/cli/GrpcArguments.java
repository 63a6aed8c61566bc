package io.nereid.cli;

import io.nereid.server.access.AccessControl;
import io.nereid.server.grpc.GrpcCompression;
import io.nereid.server.grpc.GrpcKeepAlive;
import io.nereid.server.grpc.GrpcLimits;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.tls.TlsOptions;
import io.nereid.server.tls.TlsOptions.ClientCertificate;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where gRPC is served, and what its clients may ask for: Triton's flags where it has them. */
final class GrpcArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--allow-grpc",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description = "Serve gRPC; ${DEFAULT-VALUE} by default.")
  private boolean allowed;

  @Option(
      names = "--grpc-address",
      paramLabel = "ADDRESS",
      defaultValue = "0.0.0.0",
      description = "Where gRPC is served; ${DEFAULT-VALUE} by default.")
  private InetAddress address;

  @Option(
      names = "--grpc-port",
      paramLabel = "PORT",
      defaultValue = "8001",
      description = "Its port, 0 for one that is free; ${DEFAULT-VALUE} by default.")
  private int port;

  @Option(
      names = "--grpc-max-input-size",
      paramLabel = "BYTES",
      defaultValue = "2147483647",
      description = "The largest message that is received; ${DEFAULT-VALUE} by default.")
  private int maxInputSize;

  @Option(
      names = "--grpc-max-total-input-size",
      paramLabel = "BYTES",
      defaultValue = "0",
      description =
          "Most bytes of messages that are not complete, of all connections together; 0, the"
              + " default: half of the direct memory, which is as large as the heap if nothing"
              + " else is said.")
  private long maxTotalInputSize;

  @Option(
      names = "--grpc-request-timeout-secs",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description =
          "How long a client may take to send a message, or the next MiB of it;"
              + " ${DEFAULT-VALUE} by default.")
  private long requestTimeoutSeconds;

  @Option(
      names = "--grpc-max-metadata-size",
      paramLabel = "BYTES",
      defaultValue = "16384",
      description = "The largest metadata of a call; ${DEFAULT-VALUE} by default.")
  private int maxMetadataSize;

  @Option(
      names = "--grpc-max-concurrent-calls",
      paramLabel = "N",
      defaultValue = "10000",
      description = "Most calls at a time on one connection; ${DEFAULT-VALUE} by default.")
  private int maxCalls;

  @Option(
      names = "--grpc-max-connections",
      paramLabel = "N",
      defaultValue = "10000",
      description = "Most connections at a time; ${DEFAULT-VALUE} by default.")
  private int maxConnections;

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
      defaultValue = "7200000",
      description =
          "How long a connection is silent before its client is pinged; ${DEFAULT-VALUE} by"
              + " default.")
  private long keepAliveMs;

  @Option(
      names = "--grpc-keepalive-timeout",
      paramLabel = "MS",
      defaultValue = "20000",
      description =
          "When a client that does not answer is taken for dead; ${DEFAULT-VALUE} by default.")
  private long keepAliveTimeoutMs;

  @Option(
      names = "--grpc-keepalive-permit-without-calls",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "false",
      fallbackValue = "true",
      description = "Let clients ping while they have no calls; ${DEFAULT-VALUE} by default.")
  private boolean pingsWithoutCalls;

  @Option(
      names = "--grpc-http2-min-recv-ping-interval-without-data",
      paramLabel = "MS",
      defaultValue = "300000",
      description =
          "How often a client may ping; one that pings more is sent away; ${DEFAULT-VALUE} by"
              + " default.")
  private long leastPingIntervalMs;

  @Option(
      names = "--grpc-max-connection-age",
      paramLabel = "MS",
      defaultValue = "0",
      description = "When a client is asked to connect again; 0, the default: never.")
  private long maxAgeMs;

  @Option(
      names = "--grpc-max-connection-age-grace",
      paramLabel = "MS",
      defaultValue = "0",
      description = "How long its calls may go on then; 0, the default: until they end.")
  private long maxAgeGraceMs;

  @Option(
      names = "--grpc-use-ssl",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "false",
      fallbackValue = "true",
      description = "Encrypt gRPC with certificates of its own, not those of --tls-cert.")
  private boolean useSsl;

  @Option(
      names = "--grpc-use-ssl-mutual",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "false",
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
   * Empty: gRPC is not served.
   *
   * @param tls how connections are encrypted, where it is not told for gRPC alone
   */
  Optional<GrpcOptions> options(Optional<TlsOptions> tls, AccessControl access) {
    if (!allowed) {
      return Optional.empty();
    }
    check(port >= 0 && port <= 65_535, "--grpc-port from 0 to 65535", port);
    GrpcOptions.Builder options =
        GrpcOptions.builder()
            .address(address)
            .port(port)
            .limits(limits())
            .keepAlive(keepAlive())
            .compression(compression)
            .access(access);
    ownTls().or(() -> tls).ifPresent(options::tls);
    ForwardArgument.parse(command, "--grpc-header-forward-pattern", forwardPattern)
        .ifPresent(options::forwarding);
    return Optional.of(options.build());
  }

  private Optional<TlsOptions> ownTls() {
    boolean used = useSsl || useSslMutual;
    boolean complete =
        used
            ? certificate != null && key != null && (clientCa != null || !useSslMutual)
            : certificate == null && key == null && clientCa == null;
    if (!complete) {
      throw new ParameterException(
          command.commandLine(),
          "expected --grpc-use-ssl with --grpc-server-cert and --grpc-server-key, and"
              + " --grpc-use-ssl-mutual with --grpc-root-cert as well, got one without the other");
    }
    if (!used) {
      return Optional.empty();
    }
    return Optional.of(
        useSslMutual
            ? TlsOptions.of(certificate, key, clientCa, ClientCertificate.REQUIRED)
            : TlsOptions.of(certificate, key));
  }

  private GrpcLimits limits() {
    check(maxInputSize > 0, "--grpc-max-input-size of 1 or more", maxInputSize);
    check(maxMetadataSize > 0, "--grpc-max-metadata-size of 1 or more", maxMetadataSize);
    check(maxCalls > 0, "--grpc-max-concurrent-calls of 1 or more", maxCalls);
    check(maxConnections > 0, "--grpc-max-connections of 1 or more", maxConnections);
    check(maxTotalInputSize >= 0, "--grpc-max-total-input-size of 0 or more", maxTotalInputSize);
    check(
        requestTimeoutSeconds > 0,
        "--grpc-request-timeout-secs of 1 or more",
        requestTimeoutSeconds);
    return new GrpcLimits(
        maxInputSize,
        maxTotalInputSize,
        Duration.ofSeconds(requestTimeoutSeconds),
        maxMetadataSize,
        maxCalls,
        maxConnections);
  }

  private GrpcKeepAlive keepAlive() {
    check(keepAliveMs > 0, "--grpc-keepalive-time of 1 or more", keepAliveMs);
    check(keepAliveTimeoutMs > 0, "--grpc-keepalive-timeout of 1 or more", keepAliveTimeoutMs);
    check(
        leastPingIntervalMs >= 0,
        "--grpc-http2-min-recv-ping-interval-without-data of 0 or more",
        leastPingIntervalMs);
    check(maxAgeMs >= 0, "--grpc-max-connection-age of 0 or more", maxAgeMs);
    check(maxAgeGraceMs >= 0, "--grpc-max-connection-age-grace of 0 or more", maxAgeGraceMs);
    return new GrpcKeepAlive(
        Duration.ofMillis(keepAliveMs),
        Duration.ofMillis(keepAliveTimeoutMs),
        Duration.ofMillis(leastPingIntervalMs),
        pingsWithoutCalls,
        unlessZero(maxAgeMs),
        unlessZero(maxAgeGraceMs));
  }

  private static Optional<Duration> unlessZero(long ms) {
    return ms == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(ms));
  }

  private void check(boolean holds, String expected, long got) {
    if (!holds) {
      throw new ParameterException(command.commandLine(), "expected " + expected + ", got " + got);
    }
  }
}
