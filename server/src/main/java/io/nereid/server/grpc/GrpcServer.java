package io.nereid.server.grpc;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.TlsSettings;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/**
 * The gRPC frontend: a socket that listens, the connections that came through it, and the threads
 * that serve them. Its methods may be called from any thread.
 */
public final class GrpcServer implements AutoCloseable {

  /**
   * Loggers that print stack traces for mistakes of clients; the clients get errors anyway. The
   * list keeps them from being collected.
   */
  private static final List<Logger> CLIENT_FAULT_LOGS =
      Stream.of("NettyServerHandler", "NettyServerStream", "NettyServerTransport")
          .map(name -> Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty." + name))
          .toList();

  /**
   * The most resets that a client may force by mistakes. More than it may send: Netty counts each
   * frame that was under way when its call ended, dozens for large tensors.
   */
  static final int MAX_FORCED_RESETS = 10 * FrameCount.MAX_FRAMES;

  /**
   * Bytes that a connection, and each of its calls, may send ahead of the server. It is fixed,
   * because grpc-java pings the client again and again to find one.
   */
  private static final int WINDOW_BYTES = 4 << 20;

  /** Open calls may take this fraction of the heap. */
  private static final int HEAP_SHARES = 16;

  /** The time for abandoned calls to notice that. */
  private static final Duration LEAVE_TIME = Duration.ofSeconds(2);

  private final ServerState state;
  private final HealthService health;
  private final InferenceCalls inference;
  private final ConnectionLimit connections;
  private final EventLoops loops;
  private final Server server;

  private GrpcServer(
      ServerState state,
      HealthService health,
      InferenceCalls inference,
      ConnectionLimit connections,
      EventLoops loops,
      Server server) {
    this.state = state;
    this.health = health;
    this.inference = inference;
    this.connections = connections;
    this.loops = loops;
    this.server = server;
  }

  /**
   * Checks that the port is free, long before {@link #start} could.
   *
   * @throws NereidException the port cannot be used
   */
  public static void checkAddress(GrpcOptions options) {
    // The socket is bound but does not listen, so no client can connect.
    try (Socket probe = new Socket()) {
      probe.setReuseAddress(true); // as the listening socket will
      probe.bind(new InetSocketAddress(options.address(), options.port()));
    } catch (IOException e) {
      throw cannotListen(options, e);
    }
  }

  private static NereidException cannotListen(GrpcOptions options, IOException cause) {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "cannot serve gRPC at " + options.address().getHostAddress() + ":" + options.port(),
        cause);
  }

  /** Listens; returns when connections are accepted. A failure leaves nothing behind. */
  public static GrpcServer start(ServerState state, GrpcOptions options) {
    return start(state, options, List.of());
  }

  /** Listens, serving more services, too. */
  static GrpcServer start(
      ServerState state, GrpcOptions options, List<ServerServiceDefinition> others) {
    CLIENT_FAULT_LOGS.forEach(log -> log.setLevel(Level.SEVERE));
    EventLoops loops = new EventLoops();
    HealthService health = new HealthService(state);
    InferenceCalls inference = new InferenceCalls(state, loops, options.forwarding());
    SharedLimit replies = ReplyBuffers.limit();
    ConnectionLimit connections =
        new ConnectionLimit(
            options.limits().connectionCount(), replies, state.frontends().failures("grpc"));
    Server server = null;
    try {
      CallGate gate = new CallGate(state.health(), options);
      MethodTable methods = methods(state, health, inference, gate, others);
      NettyServerBuilder builder =
          builder(state, options, loops, replies, methods)
              .fallbackHandlerRegistry(methods)
              .addTransportFilter(connections);
      builder.addStreamTracerFactory(new CallCounts(state.grpcAnswers()));
      state.accessLog().ifPresent(log -> builder.addStreamTracerFactory(new CallLog(log)));
      server = builder.build();
      server.start();
      state
          .frontends()
          .add(
              "grpc",
              new Frontends.Place(server.getPort(), options.tls().isPresent()),
              connections::count);
      return new GrpcServer(state, health, inference, connections, loops, server);
    } catch (IOException e) {
      release(server, health, inference, loops);
      throw cannotListen(options, e);
    } catch (RuntimeException | Error e) {
      release(server, health, inference, loops);
      throw e;
    }
  }

  /** Releases all parts, even of a server that never listened. */
  private static void release(
      Server server, HealthService health, InferenceCalls inference, EventLoops loops) {
    if (server != null) {
      server.shutdownNow();
    }
    health.close();
    inference.close();
    loops.close();
  }

  private static MethodTable methods(
      ServerState state,
      HealthService health,
      InferenceCalls inference,
      CallGate gate,
      List<ServerServiceDefinition> others) {
    return new MethodTable(
        ServerInterceptors.intercept(InferenceService.ofTensors(inference), gate),
        () ->
            Stream.concat(
                    Stream.of(
                        InferenceService.of(state, inference),
                        health.definition(),
                        MessageReading.of(ProtoReflectionServiceV1.newInstance().bindService()),
                        MessageReading.of(oldReflection())),
                    others.stream())
                .map(service -> ServerInterceptors.intercept(service, gate))
                .toList());
  }

  /** Reflection under its older name, which many tools still use. */
  @SuppressWarnings("deprecation") // deprecated in favour of the new name
  private static ServerServiceDefinition oldReflection() {
    return ProtoReflectionService.newInstance().bindService();
  }

  private static NettyServerBuilder builder(
      ServerState state,
      GrpcOptions options,
      EventLoops loops,
      SharedLimit replies,
      MethodTable methods) {
    GrpcLimits limits = options.limits();
    GrpcKeepAlive keepAlive = options.keepAlive();
    MessageBudget budget = MessageBudget.ofUnfinished(limits.unfinishedBytes());
    SharedLimit calls = OpenCalls.limit(Runtime.getRuntime().maxMemory() / HEAP_SHARES);
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(
                new InetSocketAddress(options.address(), options.port()), credentials(options))
            .bossEventLoopGroup(loops.acceptor())
            .workerEventLoopGroup(loops.workers())
            .channelFactory(() ->
                loops.newServerChannel(
                    new AcceptHandler(
                        limits,
                        state.heap(),
                        state.frontends().failures("grpc"),
                        state.health()::listenerEnded,
                        connection ->
                            new FrameLimit(
                                new ArrivingMessages(
                                    connection,
                                    budget,
                                    calls,
                                    replies,
                                    methods,
                                    limits.requestTime())))))
            .directExecutor()
            .compressorRegistry(options.compression().replyEncodings())
            .decompressorRegistry(GrpcCompression.requestEncodings())
            .flowControlWindow(WINDOW_BYTES)
            .maxInboundMessageSize(limits.messageBytes())
            .maxInboundMetadataSize(limits.metadataBytes())
            .maxConcurrentCallsPerConnection((int) Math.min(limits.callCount(), calls.mostOfOne()))
            .keepAliveTime(keepAlive.pingAfter().toNanos(), TimeUnit.NANOSECONDS)
            .keepAliveTimeout(keepAlive.pingTimeout().toNanos(), TimeUnit.NANOSECONDS)
            .permitKeepAliveTime(keepAlive.leastPingInterval().toNanos(), TimeUnit.NANOSECONDS)
            .permitKeepAliveWithoutCalls(keepAlive.pingsWithoutCalls())
            .maxRstFramesPerWindow(MAX_FORCED_RESETS, FrameCount.WINDOW_SECONDS);
    keepAlive
        .maxAge()
        .ifPresent(age -> builder.maxConnectionAge(age.toNanos(), TimeUnit.NANOSECONDS));
    keepAlive
        .maxAgeGrace()
        .ifPresent(grace -> builder.maxConnectionAgeGrace(grace.toNanos(), TimeUnit.NANOSECONDS));
    return builder;
  }

  /** Returns credentials that look for changed files at each connection. */
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

  /** The port at which the frontend listens. */
  public int port() {
    return server.getPort();
  }

  /** Open connections. */
  public long connectionCount() {
    return connections.count();
  }

  /** Accepts no more connections and calls, and returns at once: calls that have begun go on. */
  public void refuse() {
    state.health().stop();
    health.stop();
    server.shutdown();
  }

  /**
   * Accepts no more calls, lets calls that have begun finish, and closes all connections. {@link
   * #close} ends the threads afterwards.
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
   * Gives up calls under way, and ends the threads. Best called after the models are closed, when
   * no more answers can come.
   */
  @Override
  public void close() {
    stop(Duration.ZERO);
    release(server, health, inference, loops);
  }

  private boolean await(Duration timeout) {
    try {
      return server.awaitTermination(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
