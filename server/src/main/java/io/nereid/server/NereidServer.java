package io.nereid.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.server.grpc.GrpcServer;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.HttpServer;
import io.nereid.server.http.seam.SurvivingProvider;
import io.nereid.server.log.AccessLog;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.metrics.MetricsServer;
import io.nereid.server.shared.LoadReport;
import io.nereid.server.shared.RecordingSwitch;
import io.nereid.server.shared.ServerState;
import io.nereid.server.shared.Shadows;
import io.nereid.server.trace.Tracing;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A running server: it makes the parts, starts them in their order, and stops them. One thread
 * starts it, and any thread may stop it.
 */
public final class NereidServer implements AutoCloseable {

  /**
   * One address where a running server is reached.
   *
   * @param protocol the protocol's name for people
   * @param url where it is
   */
  public record Frontend(String protocol, String url) {

    static Frontend http(String protocol, String scheme, InetAddress address, int port) {
      return new Frontend(protocol, scheme + "://" + authority(address, port));
    }

    /** The frontend, with the address in the form of gRPC's clients. */
    static Frontend grpc(InetAddress address, int port) {
      return new Frontend("gRPC", authority(address, port));
    }

    private static String authority(InetAddress address, int port) {
      String host = address.getHostAddress();
      return (address instanceof Inet6Address ? "[" + host + "]" : host) + ":" + port;
    }
  }

  /**
   * The time that one part of the start took.
   *
   * @param name the part's name for people
   * @param time how long it took
   */
  public record StartPart(String name, Duration time) {}

  /** The time for writing traces that is left even if requests used up the exit timeout. */
  private static final Duration LEAST_TRACE_TIME = Duration.ofMillis(500);

  private final ServerOptions options;
  private final Nereid nereid;
  private final ServerState state;
  private final List<StartPart> parts;
  private final GrpcStart grpc;
  private Optional<HttpServer> http = Optional.empty();
  private Optional<MetricsServer> metrics = Optional.empty();

  @GuardedBy("this")
  private boolean stopped;

  private NereidServer(ServerOptions options, Nereid nereid, List<StartPart> parts) {
    this.options = options;
    this.nereid = nereid;
    this.parts = parts;
    state =
        ServerState.builder(nereid)
            .name(options.name())
            .strictReadiness(options.strictReadiness())
            .loading()
            .allowClientShm(options.allowClientShm())
            .tracing(new Tracing(options.trace()))
            .recording(options.recording())
            .shadow(options.shadow())
            .load(options.metrics().map(told -> new LoadReport(nereid, told.interval())))
            .log(options.log())
            .accessLog(options.accessLog())
            .build();
    grpc = new GrpcStart(state, options.grpc());
  }

  /**
   * Opens the frontends and loads the models; returns when requests are taken. Until then, health
   * answers that the server is not ready. A port that is taken fails at once.
   */
  public static NereidServer start(ServerOptions wanted) {
    return start(wanted, server -> {});
  }

  /**
   * Starts a server as above, and hands it over before it takes the first request. A signal that
   * stops it can thus finish each request that it took.
   */
  public static NereidServer start(ServerOptions wanted, Consumer<NereidServer> beforeReady) {
    SurvivingProvider.install(); // before any channel is made
    ServerOptions options = ConnectionFit.of(wanted);
    List<StartPart> parts = new ArrayList<>();
    Nereid nereid;
    try {
      nereid =
          measure(parts, "runtime", () -> Nereid.create(options.repository(), options.runtime()));
    } catch (RuntimeException | Error e) {
      options.accessLog().ifPresent(AccessLog::close);
      throw e;
    }
    NereidServer server = new NereidServer(options, nereid, parts);
    try {
      server.openFrontends();
      measure(parts, "models", () -> nereid.repository().start());
      if (options.grpc().isPresent()) {
        measure(parts, "gRPC", server.grpc::await); // the rest of its start
      }
      if (options.exitOnError()) {
        checkModels(nereid);
      }
      if (options.recording().isPresent() && options.recordAtOnce()) {
        server.state.recording().start();
      }
      beforeReady.accept(server);
      server.state.health().loaded();
      return server;
    } catch (RuntimeException | Error e) {
      server.closeAfter(e);
      throw e;
    }
  }

  private static void measure(List<StartPart> parts, String name, Runnable part) {
    measure(
        parts,
        name,
        () -> {
          part.run();
          return null;
        });
  }

  private static <T> T measure(List<StartPart> parts, String name, Supplier<T> part) {
    long startNs = System.nanoTime();
    T result = part.get();
    parts.add(new StartPart(name, Duration.ofNanos(System.nanoTime() - startNs)));
    return result;
  }

  /** Closes the server after a failed start; later failures are suppressed. */
  private void closeAfter(Throwable failure) {
    try {
      stop();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private void openFrontends() {
    grpc.check();
    http = options.http().map(how -> measure(parts, "HTTP", () -> HttpServer.start(state, how)));
    metrics =
        options
            .metrics()
            .map(how -> measure(parts, "metrics", () -> MetricsServer.start(state, how)));
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
          ("%s of %s model versions could not be loaded; --exit-on-error=false serves the "
                  + "others:\n  %s")
              .formatted(failures.size(), nereid.models().size(), String.join("\n  ", failures)));
    }
  }

  private static String describe(Model model) {
    return "'"
        + model.name()
        + (model.version() == 0 ? "'" : "' version " + model.version())
        + ": "
        + model.failure().orElse("it failed");
  }

  /** The options that the server was started with. */
  public ServerOptions options() {
    return options;
  }

  /** The models. */
  public Nereid nereid() {
    return nereid;
  }

  /** The port of the HTTP frontend; throws if HTTP is not served. */
  public int httpPort() {
    return http.orElseThrow().port();
  }

  /** The port of the gRPC frontend; empty: it is not served. */
  public OptionalInt grpcPort() {
    return grpc.server().map(served -> OptionalInt.of(served.port())).orElseGet(OptionalInt::empty);
  }

  /** The frontends, with their addresses. */
  public List<Frontend> frontends() {
    List<Frontend> frontends = new ArrayList<>();
    http.ifPresent(server ->
        frontends.add(
            Frontend.http(
                "HTTP", httpScheme(), options.http().orElseThrow().address(), server.port())));
    grpc.server()
        .ifPresent(server ->
            frontends.add(Frontend.grpc(options.grpc().orElseThrow().address(), server.port())));
    metrics.ifPresent(server -> {
      MetricsOptions how = options.metrics().orElseThrow();
      frontends.add(
          Frontend.http("metrics", scheme(how.tls().isPresent()), how.address(), server.port()));
    });
    return frontends;
  }

  /** The address of the console for a browser on this machine; empty: it is not served. */
  public Optional<String> consoleUrl() {
    return options
        .http()
        .flatMap(HttpOptions::console)
        .map(console -> httpScheme() + "://localhost:" + httpPort() + console.path());
  }

  /** True if the server is ready, as its health endpoint answers. */
  public boolean isReady() {
    return state.health().isReady();
  }

  private String httpScheme() {
    return scheme(options.http().orElseThrow().tls().isPresent());
  }

  private static String scheme(boolean encrypted) {
    return encrypted ? "https" : "http";
  }

  /** The port of the metrics; empty: they are not served. */
  public OptionalInt metricsPort() {
    return metrics.map(served -> OptionalInt.of(served.port())).orElseGet(OptionalInt::empty);
  }

  /** The time that each part of the start took, in the order in which they ended. */
  public List<StartPart> startTimes() {
    return List.copyOf(parts);
  }

  /**
   * Stops: takes no more requests, finishes those that have begun within the exit timeout, and
   * unloads the models. Sequences that have started may go on and end before that, over the
   * frontends, within the same timeout.
   *
   * @return whether all sequences and requests finished
   */
  public synchronized boolean stop() {
    if (stopped) {
      return true;
    }
    stopped = true;
    state.health().finish();
    // The order: the frontends, then the parts that they use, last traces and logs; each regardless
    // of earlier failures.
    long startNs = System.nanoTime();
    boolean finished = nereid.finishSequences(options.exitTimeout());
    state.health().stop();
    Optional<GrpcServer> calls = grpc.server();
    calls.ifPresent(GrpcServer::refuse);
    try {
      finished &= http.map(server -> server.stop(left(startNs))).orElse(true);
      finished &= calls.map(server -> server.stop(left(startNs))).orElse(true);
      metrics.ifPresent(MetricsServer::stop);
      RecordingSwitch recording = state.recording();
      Shadows shadows = state.shadows();
      try (recording;
          shadows) {
        state.sharedMemory().close();
      } finally {
        nereid.close();
      }
      return finished;
    } finally {
      calls.ifPresent(GrpcServer::close);
      Duration left = left(startNs);
      state.tracing().close(left.compareTo(LEAST_TRACE_TIME) > 0 ? left : LEAST_TRACE_TIME);
      state.accessLog().ifPresent(AccessLog::close);
    }
  }

  /** The rest of the exit timeout. */
  private Duration left(long startNs) {
    Duration left = options.exitTimeout().minusNanos(System.nanoTime() - startNs);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** Does the same as {@link #stop}. */
  @Override
  public void close() {
    stop();
  }
}
