package io.nereid.server.grpc;

import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.server.shared.ServerState;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

  private final GrpcOptions options;
  private final EventLoops loops;
  private final ServedMethods methods;
  private final Server server;
  private ServerState state; // null: nothing is served yet
  private HealthService health; // likewise

  private GrpcServer(GrpcOptions options, EventLoops loops, ServedMethods methods, Server server) {
    this.options = options;
    this.loops = loops;
    this.methods = methods;
    this.server = server;
  }

  /** Listens and serves; returns when connections are accepted. */
  public static GrpcServer start(ServerState state, GrpcOptions options) {
    GrpcServer server = open(options);
    server.serve(state);
    return server;
  }

  /** Listens; calls are answered with {@code UNAVAILABLE} until {@link #serve} was called. */
  public static GrpcServer open(GrpcOptions options) {
    CLIENT_FAULT_LOGS.forEach(log -> log.setLevel(Level.SEVERE));
    ServedMethods methods = new ServedMethods();
    EventLoops loops = new EventLoops();
    try {
      Server server = builder(options, loops).fallbackHandlerRegistry(methods).build().start();
      return new GrpcServer(options, loops, methods, server);
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

  private static NettyServerBuilder builder(GrpcOptions options, EventLoops loops) {
    GrpcLimits limits = options.limits();
    GrpcKeepAlive keepAlive = options.keepAlive();
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(options.address(), options.port()))
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

  /** From now on calls are served; to be called once. */
  public synchronized void serve(ServerState served) {
    state = served;
    health = new HealthService(served);
    CallGate gate = new CallGate(served.health(), options.compression());
    methods.serve(
        List.of(
            ServerInterceptors.intercept(InferenceService.of(served, loops), gate),
            health.definition(),
            ProtoReflectionServiceV1.newInstance().bindService(),
            OldReflection.service()));
  }

  /** Where it listens. */
  public int port() {
    return server.getPort();
  }

  /** Accepts nothing more, and returns at once: calls that have begun go on. */
  public synchronized void refuse() {
    if (state != null) {
      state.health().stop();
      health.stop();
    }
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
}
