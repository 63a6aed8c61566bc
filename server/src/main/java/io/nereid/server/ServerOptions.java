package io.nereid.server;

import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.RecordingOptions;
import io.nereid.recording.ShadowOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.Durations;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.trace.TraceOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Says what a server serves, and where. Make others from {@link #DEFAULT}.
 *
 * @param name the server's name for clients
 * @param repository which models are loaded
 * @param runtime settings of the runtime
 * @param http where HTTP is served, and how; empty: it is not
 * @param grpc where gRPC is served, and how; empty: it is not
 * @param trace which requests are traced, until clients change it
 * @param recording where requests are recorded, and how; empty: recording is not possible
 * @param recordAtOnce true: recording begins at the start; false: when a client asks
 * @param shadow how shadows among the models are compared
 * @param metrics where metrics are served; empty: they are not
 * @param log the log, if the server may change its settings; the caller closes it
 * @param accessLog gets a line for each request; the server closes it at its end
 * @param exitTimeout how long requests that have begun may take when the server stops
 * @param exitOnError whether a model that cannot be loaded at the start ends the server
 * @param strictReadiness whether such a model makes it not ready
 * @param allowClientShm whether clients may register shared memory
 */
public record ServerOptions(
    String name,
    RepositoryOptions repository,
    NereidOptions runtime,
    Optional<HttpOptions> http,
    Optional<GrpcOptions> grpc,
    TraceOptions trace,
    Optional<RecordingOptions> recording,
    boolean recordAtOnce,
    ShadowOptions shadow,
    Optional<MetricsOptions> metrics,
    Optional<LogSettings> log,
    Optional<AccessLog> accessLog,
    Duration exitTimeout,
    boolean exitOnError,
    boolean strictReadiness,
    boolean allowClientShm) {

  /** HTTP at a free port of the loopback address, and nothing else: no model is loaded. */
  public static final ServerOptions DEFAULT =
      new ServerOptions(
          ServerFacts.DEFAULT_NAME,
          RepositoryOptions.builder().explicit().build(),
          NereidOptions.DEFAULT,
          Optional.of(HttpOptions.DEFAULT),
          Optional.empty(),
          TraceOptions.OFF,
          Optional.empty(),
          true,
          ShadowOptions.DEFAULT,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Duration.ofSeconds(30),
          true,
          true,
          false);

  /** Checks the values. */
  public ServerOptions {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("expected a name for the server, got an empty one");
    }
    Objects.requireNonNull(repository);
    Objects.requireNonNull(runtime);
    Objects.requireNonNull(http);
    Objects.requireNonNull(grpc);
    Objects.requireNonNull(trace);
    Objects.requireNonNull(recording);
    Objects.requireNonNull(shadow);
    Objects.requireNonNull(metrics);
    Objects.requireNonNull(log);
    Objects.requireNonNull(accessLog);
    if (metrics.isPresent() && metrics.get().config().summaries() && !runtime.stageHistograms()) {
      throw new IllegalArgumentException("summaries of latencies need a runtime's stageHistograms");
    }
    if (exitTimeout.isNegative()) {
      throw new IllegalArgumentException("exitTimeout must not be negative, got " + exitTimeout);
    }
    exitTimeout = Durations.limited(exitTimeout);
  }

  /** Returns a copy with another name. */
  public ServerOptions withName(String told) {
    return RecordCopy.with(this, "name", told);
  }

  /** Returns a copy that loads other models. */
  public ServerOptions withRepository(RepositoryOptions models) {
    return RecordCopy.with(this, "repository", models);
  }

  /** Returns a copy with other settings of the runtime. */
  public ServerOptions withRuntime(NereidOptions settings) {
    return RecordCopy.with(this, "runtime", settings);
  }

  /** Returns a copy that serves HTTP with these options. */
  public ServerOptions withHttp(HttpOptions how) {
    return withFrontends(Optional.of(how), grpc);
  }

  /** Returns a copy that does not serve HTTP. */
  public ServerOptions withoutHttp() {
    return withFrontends(Optional.empty(), grpc);
  }

  /** Returns a copy that serves gRPC with these options. */
  public ServerOptions withGrpc(GrpcOptions how) {
    return withFrontends(http, Optional.of(how));
  }

  /** Copies without reflection, because starts that may open only few files call this. */
  private ServerOptions withFrontends(
      Optional<HttpOptions> otherHttp, Optional<GrpcOptions> otherGrpc) {
    return new ServerOptions(
        name,
        repository,
        runtime,
        otherHttp,
        otherGrpc,
        trace,
        recording,
        recordAtOnce,
        shadow,
        metrics,
        log,
        accessLog,
        exitTimeout,
        exitOnError,
        strictReadiness,
        allowClientShm);
  }

  /** Returns a copy that traces other requests. */
  public ServerOptions withTrace(TraceOptions requests) {
    return RecordCopy.with(this, "trace", requests);
  }

  /** Returns a copy that records requests with these options. */
  public ServerOptions withRecording(RecordingOptions how) {
    return RecordCopy.with(this, "recording", Optional.of(how));
  }

  /** Returns a copy that records from the start on, or when a client asks. */
  public ServerOptions withRecordAtOnce(boolean atOnce) {
    return RecordCopy.with(this, "recordAtOnce", atOnce);
  }

  /** Returns a copy that compares shadows with these options. */
  public ServerOptions withShadow(ShadowOptions how) {
    return RecordCopy.with(this, "shadow", how);
  }

  /**
   * Returns a copy that serves metrics with these options. Summaries need a runtime that keeps
   * stage histograms.
   */
  public ServerOptions withMetrics(MetricsOptions how) {
    return RecordCopy.with(this, "metrics", Optional.of(how));
  }

  /** Returns a copy with a log, whose settings clients may then change. */
  public ServerOptions withLog(LogSettings settings) {
    return RecordCopy.with(this, "log", Optional.of(settings));
  }

  /** Returns a copy that writes a line for each request. */
  public ServerOptions withAccessLog(AccessLog lines) {
    return RecordCopy.with(this, "accessLog", Optional.of(lines));
  }

  /** Returns a copy that gives requests another time when the server stops. */
  public ServerOptions withExitTimeout(Duration timeout) {
    return RecordCopy.with(this, "exitTimeout", timeout);
  }

  /** Returns a copy that ends, or goes on, when a model cannot be loaded at the start. */
  public ServerOptions withExitOnError(boolean ends) {
    return RecordCopy.with(this, "exitOnError", ends);
  }

  /** Returns a copy that is not ready, or is, when a model could not be loaded at the start. */
  public ServerOptions withStrictReadiness(boolean strict) {
    return RecordCopy.with(this, "strictReadiness", strict);
  }

  /** Returns a copy with or without shared memory of clients. */
  public ServerOptions withAllowClientShm(boolean allowed) {
    return RecordCopy.with(this, "allowClientShm", allowed);
  }
}
