package io.nereid.server;

import io.nereid.Model;
import io.nereid.ModelState;
import io.nereid.Nereid;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.server.http.HttpServer;
import io.nereid.server.log.AccessLog;
import io.nereid.server.metrics.MetricsServer;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.Tracing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** A running server: what it consists of, the order in which that starts, and how it ends. */
public final class NereidServer implements AutoCloseable {

  /** What traces get to be written although requests took all the time there was. */
  private static final Duration LEAST_TRACE_TIME = Duration.ofMillis(500);

  private final ServerOptions options;
  private final Nereid nereid;
  private final ServerState state;
  private final HttpServer http;
  private final Optional<MetricsServer> metrics;
  private final StartTimes startTimes;
  private boolean stopped;

  private NereidServer(
      ServerOptions options,
      ServerState state,
      HttpServer http,
      Optional<MetricsServer> metrics,
      StartTimes startTimes) {
    this.options = options;
    this.nereid = state.nereid();
    this.state = state;
    this.http = http;
    this.metrics = metrics;
    this.startTimes = startTimes;
  }

  /** Loads the models and opens the frontends; returns when requests are taken. */
  public static NereidServer start(ServerOptions options) {
    long startNs = System.nanoTime();
    Nereid nereid = Nereid.open(options.repository(), options.runtime());
    Tracing tracing = new Tracing(options.trace());
    try {
      if (options.exitOnError()) {
        checkModels(nereid);
      }
      long loadedNs = System.nanoTime();
      ServerState state =
          ServerState.builder(nereid)
              .strictReadiness(options.strictReadiness())
              .allowClientShm(options.allowClientShm())
              .tracing(tracing)
              .log(options.log())
              .accessLog(options.accessLog())
              .build();
      HttpServer http = HttpServer.start(state, options.http());
      Optional<MetricsServer> metrics = startMetrics(options, state, http);
      StartTimes times =
          new StartTimes(
              Duration.ofNanos(loadedNs - startNs), Duration.ofNanos(System.nanoTime() - loadedNs));
      return new NereidServer(options, state, http, metrics, times);
    } catch (RuntimeException e) {
      tracing.close(Duration.ZERO);
      options.accessLog().ifPresent(AccessLog::close);
      nereid.close();
      throw e;
    }
  }

  private static Optional<MetricsServer> startMetrics(
      ServerOptions options, ServerState state, HttpServer http) {
    try {
      return options
          .metrics()
          .map(metrics ->
              MetricsServer.start(state, metrics, Map.of("http", http::connectionCount)));
    } catch (RuntimeException e) {
      http.stop(Duration.ZERO);
      throw e;
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

  /** The port of the metrics; empty: they are not served. */
  public OptionalInt metricsPort() {
    return metrics.map(served -> OptionalInt.of(served.port())).orElseGet(OptionalInt::empty);
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
    long startNs = System.nanoTime();
    boolean finished = http.stop(options.http().exitTimeout());
    state.sharedMemory().close();
    Duration left = options.http().exitTimeout().minusNanos(System.nanoTime() - startNs);
    state.tracing().close(left.compareTo(LEAST_TRACE_TIME) > 0 ? left : LEAST_TRACE_TIME);
    metrics.ifPresent(MetricsServer::stop);
    options.accessLog().ifPresent(AccessLog::close);
    nereid.close();
    return finished;
  }

  /** As {@link #stop}. */
  @Override
  public void close() {
    stop();
  }
}
