package io.nereid.server.grpc;

import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.wire.ConnectionWatch;
import io.nereid.server.wire.EventContext;
import io.nereid.server.wire.HttpPort;
import io.nereid.server.wire.WireLimits;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The gRPC frontend: a socket that listens, the connections that came through it, and the threads
 * that serve them. Its methods may be called from any thread.
 */
public final class GrpcServer implements AutoCloseable {

  private static final String THREAD_NAME = "nrd-grpc";

  /** How long a connection may take until its client's first frame came. */
  private static final Duration OPENING_TIME = Duration.ofMinutes(2);

  private final ServerState state;
  private final HealthService health;
  private final InferenceCalls inference;
  private final HttpPort port;
  private final AtomicInteger connections;

  private GrpcServer(
      ServerState state,
      HealthService health,
      InferenceCalls inference,
      HttpPort port,
      AtomicInteger connections) {
    this.state = state;
    this.health = health;
    this.inference = inference;
    this.port = port;
    this.connections = connections;
  }

  /**
   * Whether the port can be listened at, which is known long before {@link #start} could tell.
   *
   * @throws NereidException when it cannot
   */
  public static void checkAddress(GrpcOptions options) {
    // A socket that is bound but does not listen: no client can find it.
    try (Socket probe = new Socket()) {
      probe.setReuseAddress(true); // as the listening one will have it
      probe.bind(new InetSocketAddress(options.address(), options.port()));
    } catch (IOException e) {
      throw cannotListen(options, e);
    }
  }

  private static NereidException cannotListen(GrpcOptions options, Exception cause) {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "cannot serve gRPC at " + options.address().getHostAddress() + ":" + options.port(),
        cause);
  }

  /** Listens; returns when connections are accepted. When it throws it has left nothing behind. */
  public static GrpcServer start(ServerState state, GrpcOptions options) {
    HealthService health = new HealthService(state);
    InferenceCalls inference = new InferenceCalls(state, options.forwarding());
    AtomicInteger connections = new AtomicInteger();
    try {
      CallGate gate = new CallGate(state.health(), options);
      HttpPort port = listen(state, options, methods(state, health, inference, gate), connections);
      state.frontends().add("grpc", place(options, port.number()), connections::get);
      return new GrpcServer(state, health, inference, port, connections);
    } catch (RuntimeException | Error e) {
      health.close();
      inference.close();
      throw e;
    }
  }

  /**
   * Serves other methods, as {@link #start} does.
   *
   * @param connections counts those that are open
   */
  static HttpPort listen(
      ServerState state, GrpcOptions options, MethodTable methods, AtomicInteger connections) {
    GrpcLimits limits = options.limits();
    CallContext calls =
        new CallContext(
            methods,
            limits,
            options.keepAlive(),
            options.compression(),
            MessageBudget.ofUnfinished(limits.unfinishedBytes()),
            state.heap(),
            state.accessLog().map(CallLog::new));
    EventContext context =
        new EventContext(
            THREAD_NAME,
            new WireLimits(
                limits.messageBytes(),
                limits.metadataBytes(),
                0,
                limits.connectionCount(),
                OPENING_TIME,
                OPENING_TIME),
            limits.callCount(),
            GrpcLimits.CONNECTION_BYTES,
            new ConnectionWatch(THREAD_NAME),
            state.heap(),
            connections,
            state.health()::isStopping,
            "; --grpc-max-connections sets the limit");
    try {
      return HttpPort.openForEvents(
          "gRPC",
          options.address(),
          options.port(),
          options.tls(),
          context,
          connection -> new CallConnection(calls, connection),
          state.health()::listenerEnded);
    } catch (NereidException e) {
      throw e.code() == StatusCode.UNAVAILABLE ? cannotListen(options, e) : e;
    }
  }

  private static Frontends.Place place(GrpcOptions options, int port) {
    return new Frontends.Place(
        options.address(),
        port,
        options.tls().map(ServerTlsOptions::certificate),
        options.tls().map(ServerTlsOptions::isMutual).orElse(false));
  }

  private static MethodTable methods(
      ServerState state, HealthService health, InferenceCalls inference, CallGate gate) {
    return new MethodTable(
        behind(gate, List.of(InferenceService.ofTensors(inference))),
        () ->
            behind(
                gate,
                new Reflection(List.of(InferenceService.of(state, inference), health.definition()))
                    .withServices()));
  }

  private static List<ServerServiceDefinition> behind(
      CallGate gate, List<ServerServiceDefinition> services) {
    return services.stream().map(service -> ServerInterceptors.intercept(service, gate)).toList();
  }

  /** The port at which it listens. */
  public int port() {
    return port.number();
  }

  /** Open connections. */
  public long connectionCount() {
    return connections.get();
  }

  /** Accepts nothing more, and returns at once: calls that have begun go on. */
  public void refuse() {
    state.health().stop();
    health.stop();
    port.refuse();
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
    return port.stop(timeout);
  }

  /**
   * Gives up what is still under way. After the models are closed, best, so that nobody is left who
   * would answer a call.
   */
  @Override
  public void close() {
    stop(Duration.ZERO);
    health.close();
    inference.close();
  }
}
