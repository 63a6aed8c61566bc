package io.nereid.server;

import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.shared.Durations;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.trace.TraceOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * What a server serves, and where. Build one with {@link #builder()}.
 *
 * @param name what the server calls itself to clients
 * @param repository which models are loaded
 * @param runtime settings of the runtime
 * @param http where HTTP is served, and how; empty: it is not
 * @param grpc where gRPC is served, and how; empty: it is not
 * @param trace which requests are traced, until clients change it
 * @param metrics where metrics are served, if they are
 * @param log the log, where it is the server's; stays the caller's to close
 * @param accessLog what gets a line for each request; the server closes it at its end
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
    Optional<MetricsOptions> metrics,
    Optional<LogSettings> log,
    Optional<AccessLog> accessLog,
    Duration exitTimeout,
    boolean exitOnError,
    boolean strictReadiness,
    boolean allowClientShm) {

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

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder with these. */
  public Builder toBuilder() {
    Builder builder =
        new Builder()
            .name(name)
            .repository(repository)
            .runtime(runtime)
            .http(http)
            .grpc(grpc)
            .trace(trace)
            .exitTimeout(exitTimeout)
            .exitOnError(exitOnError)
            .strictReadiness(strictReadiness)
            .allowClientShm(allowClientShm);
    metrics.ifPresent(builder::metrics);
    log.ifPresent(builder::log);
    accessLog.ifPresent(builder::accessLog);
    return builder;
  }

  /** Builds a {@link ServerOptions}. */
  public static final class Builder {
    private String name = ServerFacts.DEFAULT_NAME;
    private RepositoryOptions repository = RepositoryOptions.builder().explicit().build();
    private NereidOptions runtime = NereidOptions.DEFAULT;
    private Optional<GrpcOptions> grpc = Optional.empty();
    private TraceOptions trace = TraceOptions.builder().build();
    private Optional<MetricsOptions> metrics = Optional.empty();
    private Optional<LogSettings> log = Optional.empty();
    private Optional<AccessLog> accessLog = Optional.empty();
    private Optional<HttpOptions> http = Optional.of(HttpOptions.builder().build());
    private Duration exitTimeout = Duration.ofSeconds(30);
    private boolean exitOnError = true;
    private boolean strictReadiness = true;
    private boolean allowClientShm;

    private Builder() {}

    /** What the server calls itself to clients; {@value ServerFacts#DEFAULT_NAME} by default. */
    public Builder name(String told) {
      name = told;
      return this;
    }

    /** Which models are loaded; none by default. */
    public Builder repository(RepositoryOptions options) {
      repository = options;
      return this;
    }

    /** Settings of the runtime. */
    public Builder runtime(NereidOptions options) {
      runtime = options;
      return this;
    }

    /** Where HTTP is served, and how; at a free port of the loopback address by default. */
    public Builder http(HttpOptions options) {
      return http(Optional.of(options));
    }

    /** As {@link #http(HttpOptions)}; empty for a server without HTTP. */
    public Builder http(Optional<HttpOptions> options) {
      http = options;
      return this;
    }

    /** Where gRPC is served, and how; nowhere by default. */
    public Builder grpc(Optional<GrpcOptions> options) {
      grpc = options;
      return this;
    }

    /** Which requests are traced, until clients change it; none by default. */
    public Builder trace(TraceOptions options) {
      trace = options;
      return this;
    }

    /** Where metrics are served; by default they are not. */
    public Builder metrics(MetricsOptions options) {
      metrics = Optional.of(options);
      return this;
    }

    /** The log, which clients may then change the settings of; none by default. */
    public Builder log(LogSettings settings) {
      log = Optional.of(settings);
      return this;
    }

    /** What gets a line for each request; nothing by default. */
    public Builder accessLog(AccessLog lines) {
      accessLog = Optional.of(lines);
      return this;
    }

    /** How long requests that have begun may take when the server stops; 30 s by default. */
    public Builder exitTimeout(Duration timeout) {
      exitTimeout = timeout;
      return this;
    }

    /** Whether a model that cannot be loaded at the start ends the server; by default it does. */
    public Builder exitOnError(boolean ends) {
      exitOnError = ends;
      return this;
    }

    /** Whether such a model makes the server not ready; by default it does. */
    public Builder strictReadiness(boolean strict) {
      strictReadiness = strict;
      return this;
    }

    /** Whether clients may register shared memory; by default they may not. */
    public Builder allowClientShm(boolean allowed) {
      allowClientShm = allowed;
      return this;
    }

    /** The finished value. */
    public ServerOptions build() {
      return new ServerOptions(
          name,
          repository,
          runtime,
          http,
          grpc,
          trace,
          metrics,
          log,
          accessLog,
          exitTimeout,
          exitOnError,
          strictReadiness,
          allowClientShm);
    }
  }
}
