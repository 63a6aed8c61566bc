package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.TlsSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/** The gRPC frontend: a listening socket and the connections that came through it. */
public final class GrpcServer implements AutoCloseable {

  /**
   * Both tell, with stack traces, what clients did wrong, who are told themselves. Held here:
   * loggers are kept weakly.
   */
  private static final List<Logger> CLIENT_FAULT_LOGS =
      Stream.of("NettyServerStream", "NettyServerTransport")
          .map(name -> Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty." + name))
          .toList();

  /** How long calls that are given up may take to notice. */
  private static final Duration LEAVE_TIME = Duration.ofSeconds(2);

  private final ServerState state;
  private final HealthService health;
  private final ConnectionCount connections;
  private final EventLoops loops;
  private final Server server;

  private GrpcServer(
      ServerState state,
      HealthService health,
      ConnectionCount connections,
      EventLoops loops,
      Server server) {
    this.state = state;
    this.health = health;
    this.connections = connections;
    this.loops = loops;
    this.server = server;
  }

  /** Listens; returns when connections are accepted. */
  public static GrpcServer start(ServerState state, GrpcOptions options) {
    CLIENT_FAULT_LOGS.forEach(log -> log.setLevel(Level.SEVERE));
    HealthService health = new HealthService(state);
    ConnectionCount connections = new ConnectionCount();
    EventLoops loops = new EventLoops();
    try {
      CallGate gate = new CallGate(state.health(), options);
      NettyServerBuilder builder =
          builder(options, loops)
              .addServices(services(state, health, loops, gate))
              .addTransportFilter(connections);
      state.accessLog().ifPresent(log -> builder.addStreamTracerFactory(new CallLog(log)));
      return new GrpcServer(state, health, connections, loops, builder.build().start());
    } catch (IOException e) {
      loops.close();
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "cannot serve gRPC at " + options.address().getHostAddress() + ":" + options.port(),
          e);
    } catch (RuntimeException e) {
      loops.close();
      throw e;
    }
  }

  private static List<ServerServiceDefinition> services(
      ServerState state, HealthService health, EventLoops loops, CallGate gate) {
    return Stream.of(
            InferenceService.of(state, loops),
            health.definition(),
            ProtoReflectionServiceV1.newInstance().bindService(),
            OldReflection.service())
        .map(service -> ServerInterceptors.intercept(service, gate))
        .toList();
  }

  private static NettyServerBuilder builder(GrpcOptions options, EventLoops loops) {
    GrpcLimits limits = options.limits();
    GrpcKeepAlive keepAlive = options.keepAlive();
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(
                new InetSocketAddress(options.address(), options.port()), credentials(options))
            .bossEventLoopGroup(loops.acceptor())
            .workerEventLoopGroup(loops.workers())
            .channelType(loops.channelType())
            .directExecutor()
            .compressorRegistry(options.compression().registry())
            .maxInboundMessageSize(limits.messageBytes())
            .maxInboundMetadataSize(limits.metadataBytes())
            .maxConcurrentCallsPerConnection(limits.callCount())
            .keepAliveTime(keepAlive.pingAfter().toNanos(), TimeUnit.NANOSECONDS)
            .keepAliveTimeout(keepAlive.pingTimeout().toNanos(), TimeUnit.NANOSECONDS)
            .permitKeepAliveTime(keepAlive.leastPingInterval().toNanos(), TimeUnit.NANOSECONDS)
            .permitKeepAliveWithoutCalls(keepAlive.pingsWithoutCalls());
    keepAlive
        .maxAge()
        .ifPresent(age -> builder.maxConnectionAge(age.toNanos(), TimeUnit.NANOSECONDS));
    keepAlive
        .maxAgeGrace()
        .ifPresent(grace -> builder.maxConnectionAgeGrace(grace.toNanos(), TimeUnit.NANOSECONDS));
    return builder;
  }

  /** They look at the files anew for each connection. */
  private static ServerCredentials credentials(GrpcOptions options) {
    if (options.tls().isEmpty()) {
      return InsecureServerCredentials.create();
    }
    TlsSettings tls = TlsSettings.open(options.tls().get());
    TlsServerCredentials.Builder credentials =
        TlsServerCredentials.newBuilder().keyManager(tls.keyManager());
    tls.trustManager()
        .ifPresent(trusted ->
            credentials
                .trustManager(trusted)
                .clientAuth(
                    switch (tls.options().clientCertificate()) {
                      case REQUIRED -> TlsServerCredentials.ClientAuth.REQUIRE;
                      case OPTIONAL -> TlsServerCredentials.ClientAuth.OPTIONAL;
                    }));
    return credentials.build();
  }

  /** Where it listens. */
  public int port() {
    return server.getPort();
  }

  /** Open connections. */
  public long connectionCount() {
    return connections.sum();
  }

  /** Accepts nothing more, and returns at once: calls that have begun go on. */
  public void refuse() {
    state.health().stop();
    health.stop();
    server.shutdown();
  }

  /**
   * Accepts nothing more, lets calls that have begun finish, and closes all connections. What
   * remains is for {@link #close}.
   *
   * @param timeout when calls that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    refuse();
    boolean finished = await(timeout);
    if (!finished) {
      server.shutdownNow();
      await(LEAVE_TIME);
    }
    return finished;
  }

  /**
   * Gives up what is still under way, and ends the threads. After the models are closed, best, so
   * that nobody is left who would answer a call.
   */
  @Override
  public void close() {
    stop(Duration.ZERO);
    loops.close();
  }

  private boolean await(Duration timeout) {
    try {
      return server.awaitTermination(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Counts connections. */
  private static final class ConnectionCount extends ServerTransportFilter {
    private final LongAdder open = new LongAdder();

    long sum() {
      return open.sum();
    }

    @Override
    public Attributes transportReady(Attributes attributes) {
      open.increment();
      return attributes;
    }

    @Override
    public void transportTerminated(Attributes attributes) {
      // Without attributes it was never ready.
      if (attributes != null) {
        open.decrement();
      }
    }
  }
}
