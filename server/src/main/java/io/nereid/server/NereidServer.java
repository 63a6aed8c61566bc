package io.nereid.server;

import io.nereid.Model;
import io.nereid.ModelState;
import io.nereid.Nereid;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.grpc.GrpcServer;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.HttpServer;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A running server: what it consists of, the order in which that starts, and how it ends. */
public final class NereidServer implements AutoCloseable {

  private final ServerOptions options;
  private final Nereid nereid;
  private final ServerState state;
  private final StartTimes.Clock clock;
  private final GrpcStart grpc;
  private Optional<HttpServer> http = Optional.empty();
  private boolean stopped;

  private NereidServer(ServerOptions options, Nereid nereid, StartTimes.Clock clock) {
    this.options = options;
    this.nereid = nereid;
    this.clock = clock;
    state =
        ServerState.builder(nereid)
            .strictReadiness(options.strictReadiness())
            .allowClientShm(options.allowClientShm())
            .loading()
            .build();
    grpc = new GrpcStart(state, options.grpc());
  }

  /**
   * Opens the frontends and loads the models; returns when requests are taken. Until then health
   * can be asked for, and says that the server is not ready. A port that is taken is known at once.
   */
  public static NereidServer start(ServerOptions options) {
    StartTimes.Clock clock = new StartTimes.Clock();
    Nereid nereid =
        clock.measure("runtime", () -> Nereid.create(options.repository(), options.runtime()));
    NereidServer server = new NereidServer(options, nereid, clock);
    try {
      server.openFrontends();
      clock.measure("models", () -> nereid.repository().start());
      if (options.grpc().isPresent()) {
        clock.measure("gRPC", server.grpc::await); // what is left of its start
      }
      if (options.exitOnError()) {
        checkModels(nereid);
      }
      server.state.health().loaded();
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private void openFrontends() {
    http = options.http().map(how -> clock.measure("HTTP", () -> HttpServer.start(state, how)));
  }

  private static void checkModels(Nereid nereid) {
    List<String> failures =
        nereid.models().stream()
            .filter(model -> model.state() == ModelState.FAILED)
            .map(NereidServer::describe)
            .toList();
    if (!failures.isEmpty()) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "not all models could be loaded, and --exit-on-error is on: "
              + String.join("; ", failures));
    }
  }

  private static String describe(Model model) {
    return "'"
        + model.name()
        + (model.version() == 0 ? "'" : "' version " + model.version())
        + ": "
        + model.failure().orElse("it failed");
  }

  /** What it was started with. */
  public ServerOptions options() {
    return options;
  }

  /** The models. */
  public Nereid nereid() {
    return nereid;
  }

  /** The port of the HTTP frontend, which must be there. */
  public int httpPort() {
    return http.orElseThrow().port();
  }

  /** The port of the gRPC frontend; empty when there is none. */
  public OptionalInt grpcPort() {
    return grpc.server().map(server -> OptionalInt.of(server.port())).orElse(OptionalInt.empty());
  }

  /** What is served where. */
  public List<Frontend> frontends() {
    List<Frontend> frontends = new ArrayList<>();
    http.ifPresent(server ->
        frontends.add(
            Frontend.http("HTTP", "http", options.http().orElseThrow().address(), server.port())));
    grpc.server()
        .ifPresent(server ->
            frontends.add(Frontend.grpc(options.grpc().orElseThrow().address(), server.port())));
    return frontends;
  }

  /** How long each part of the start took. */
  public StartTimes startTimes() {
    return clock.times();
  }

  /**
   * Stops: takes no more requests, finishes those that have begun within the exit timeout, and
   * unloads the models.
   *
   * @return whether all requests finished
   */
  public synchronized boolean stop() {
    if (stopped) {
      return true;
    }
    stopped = true;
    state.health().stop();
    // The frontends, then what they use, and last what writes down what happened until then.
    Optional<GrpcServer> calls = grpc.server();
    calls.ifPresent(GrpcServer::refuse);
    long startNs = System.nanoTime();
    boolean httpFinished = http.map(server -> server.stop(exitTimeout())).orElse(true);
    Duration left = exitTimeout().minusNanos(System.nanoTime() - startNs);
    boolean grpcFinished =
        calls.map(server -> server.stop(left.isNegative() ? Duration.ZERO : left)).orElse(true);
    state.sharedMemory().close();
    try {
      nereid.close();
    } finally {
      calls.ifPresent(GrpcServer::close);
    }
    return httpFinished && grpcFinished;
  }

  private Duration exitTimeout() {
    return options
        .http()
        .map(HttpOptions::exitTimeout)
        .or(() -> options.grpc().map(GrpcOptions::exitTimeout))
        .orElse(Duration.ZERO);
  }

  /** As {@link #stop}. */
  @Override
  public void close() {
    stop();
  }
}
