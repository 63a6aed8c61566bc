package io.nereid.server;

import io.nereid.Model;
import io.nereid.ModelState;
import io.nereid.Nereid;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.server.grpc.GrpcServer;
import io.nereid.server.http.HttpServer;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A running server: what it consists of, the order in which that starts, and how it ends. */
public final class NereidServer implements AutoCloseable {

  private final ServerOptions options;
  private final Nereid nereid;
  private final HttpServer http;
  private final Optional<GrpcServer> grpc;
  private final StartTimes startTimes;
  private boolean stopped;

  private NereidServer(
      ServerOptions options,
      Nereid nereid,
      HttpServer http,
      Optional<GrpcServer> grpc,
      StartTimes startTimes) {
    this.options = options;
    this.nereid = nereid;
    this.http = http;
    this.grpc = grpc;
    this.startTimes = startTimes;
  }

  /** Loads the models and opens the frontends; returns when requests are taken. */
  public static NereidServer start(ServerOptions options) {
    long startNs = System.nanoTime();
    try (GrpcOpening opening = new GrpcOpening(options.grpc())) {
      Nereid nereid = Nereid.open(options.repository(), options.runtime());
      try {
        if (options.exitOnError()) {
          checkModels(nereid);
        }
        long loadedNs = System.nanoTime();
        ServerState state =
            ServerState.builder(nereid).strictReadiness(options.strictReadiness()).build();
        Optional<GrpcServer> grpc = opening.await();
        long openedNs = System.nanoTime();
        HttpServer http = HttpServer.start(state, options.http());
        StartTimes times =
            new StartTimes(
                Duration.ofNanos(loadedNs - startNs),
                Duration.ofNanos(System.nanoTime() - openedNs),
                opening.time());
        grpc.ifPresent(server -> server.serve(state));
        opening.keep();
        return new NereidServer(options, nereid, http, grpc, times);
      } catch (RuntimeException e) {
        nereid.close();
        throw e;
      }
    }
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

  /** The port of the HTTP frontend. */
  public int httpPort() {
    return http.port();
  }

  /** The port of the gRPC frontend; empty when there is none. */
  public OptionalInt grpcPort() {
    return grpc.isPresent() ? OptionalInt.of(grpc.get().port()) : OptionalInt.empty();
  }

  /** How long each part of the start took. */
  public StartTimes startTimes() {
    return startTimes;
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
    long deadlineNs = System.nanoTime() + options.http().exitTimeout().toNanos();
    grpc.ifPresent(GrpcServer::refuse);
    boolean httpFinished = http.stop(options.http().exitTimeout());
    Duration left = Duration.ofNanos(Math.max(0, deadlineNs - System.nanoTime()));
    boolean grpcFinished = grpc.isEmpty() || grpc.get().stop(left);
    try {
      nereid.close();
    } finally {
      grpc.ifPresent(GrpcServer::close);
    }
    return httpFinished && grpcFinished;
  }

  /** As {@link #stop}. */
  @Override
  public void close() {
    stop();
  }
}
