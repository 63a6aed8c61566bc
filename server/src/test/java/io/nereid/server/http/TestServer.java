package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.shared.AnswerCounts;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import io.nereid.statistics.ModelStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/** A server on a port of its own. Closing it checks that it gave all memory back. */
public final class TestServer implements AutoCloseable {

  public static final Duration PATIENCE = Duration.ofSeconds(60);

  static final byte[] ASKING_FOR_ZEROS =
      RawClient.request(
          "/v2/models/zeros/infer",
          "",
          ("{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BOOL\",\"shape\":[1],\"data\":[true]}],"
                  + "\"parameters\":{\"binary_data_output\":true}}")
              .getBytes(StandardCharsets.US_ASCII));

  private final Nereid nereid;
  private final HttpServer http;
  private final ServerState state;

  TestServer() {
    this(HttpLimits.DEFAULT);
  }

  TestServer(HttpLimits limits) {
    this(RepositoryOptions.builder().explicit().build(), limits);
  }

  TestServer(RepositoryOptions repository, HttpLimits limits) {
    this(
        Nereid.open(
            repository, NereidOptions.builder().drainTimeout(Duration.ofSeconds(10)).build()),
        limits);
  }

  /** Takes over the runtime. */
  TestServer(Nereid nereid, HttpLimits limits) {
    this(nereid, limits, state -> state);
  }

  /** As above, with more settings of the server. */
  TestServer(Nereid nereid, HttpLimits limits, UnaryOperator<ServerState.Builder> settings) {
    this(nereid, HttpOptions.DEFAULT.withLimits(limits), settings);
  }

  /** With a runtime that has no models yet. */
  TestServer(HttpOptions options) {
    this(
        Nereid.open(
            RepositoryOptions.builder().explicit().build(),
            NereidOptions.builder().drainTimeout(Duration.ofSeconds(10)).build()),
        options,
        state -> state);
  }

  /** Takes over the runtime; with settings of both kinds. */
  TestServer(Nereid nereid, HttpOptions options, UnaryOperator<ServerState.Builder> settings) {
    this.nereid = nereid;
    state = settings.apply(ServerState.builder(nereid)).build();
    http = HttpServer.start(state, options.withExitTimeout(Duration.ofSeconds(10)));
  }

  /** A server whose clients may register shared memory. */
  static TestServer withClientShm() {
    return new TestServer(Nereid.create(), HttpLimits.DEFAULT, state -> state.allowClientShm(true));
  }

  /** A server that traces requests, and has a response cache. */
  static TestServer traced(TraceOptions trace) {
    return new TestServer(
        Nereid.open(
            RepositoryOptions.builder().explicit().build(),
            NereidOptions.builder()
                .drainTimeout(Duration.ofSeconds(10))
                .cacheByteLimit(1 << 20)
                .build()),
        HttpLimits.DEFAULT,
        state -> state.tracing(new Tracing(trace)));
  }

  Tracing tracing() {
    return state.tracing();
  }

  ServerHealth health() {
    return state.health();
  }

  Nereid nereid() {
    return nereid;
  }

  /** The answers so far, as metrics count them. */
  Map<AnswerCounts.Kind, AnswerCounts.Count> answers() {
    return state.httpAnswers().all();
  }

  HttpServer http() {
    return http;
  }

  boolean isStopping() {
    return state.health().isStopping();
  }

  int port() {
    return http.port();
  }

  /** Loads a model "TYPE" that answers OUT with its input IN, of any rank-2 shape. */
  TestServer identity(DataType type) {
    return load(identity(type.name(), type));
  }

  static ModelSpec.Builder identity(String name, DataType type) {
    return ModelSpec.builder(name)
        .backend("identity")
        .input("IN", type, -1, -1)
        .output("OUT", type, -1, -1);
  }

  /** A model "zeros" that answers {@link #ASKING_FOR_ZEROS} with that many. */
  static ModelSpec.Builder zeros(int count) {
    return ModelSpec.builder("zeros")
        .backend(context ->
            batch -> {
              MemorySegment zeros = MemorySegment.ofArray(new byte[count]);
              batch.output("OUT", Tensor.of(DataType.UINT8, zeros, count));
            })
        .input("IN", DataType.BOOL, 1)
        .output("OUT", DataType.UINT8, -1);
  }

  TestServer load(ModelSpec.Builder model) {
    nereid.load(model.build());
    return this;
  }

  /** Loads "gate", whose requests wait until the backend lets them through. */
  TestServer gate(GateBackend backend) {
    return load(
        ModelSpec.builder("gate")
            .backend(backend)
            .inline(false)
            .dynamicBatching(DynamicBatching.builder().build())
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1));
  }

  RawClient connect() throws IOException {
    return new RawClient(port());
  }

  /** Whether a new client gets an answer. */
  boolean isServing() {
    try (RawClient client = connect()) {
      return client.get("/v2").status() == 200;
    } catch (IOException e) {
      return false; // refused, maybe while it was still sending
    }
  }

  /** Connects a client. */
  interface Connecting {
    RawClient connect() throws IOException;
  }

  /** Whether a reply of zeros began; then it is given up, as nobody reads more than its head. */
  boolean dropsUnread(Connecting connecting) {
    try (RawClient client = connecting.connect()) {
      if (client.send(ASKING_FOR_ZEROS).receiveHead().status() != 200) {
        return false;
      }
      awaitNoLiveBuffers();
      return true;
    } catch (IOException e) {
      return false; // a thread was too slow for the server's limits
    }
  }

  ModelStatistics statistics(String model) {
    return nereid.model(model).statistics();
  }

  void awaitNoLiveBuffers() {
    await(() -> nereid.poolStatistics().liveBuffers() == 0, "buffers are still in use");
  }

  /** A condition that comes true by itself. */
  public interface Condition {
    boolean holds();
  }

  /** Whether there is a thread of the platform with that name. */
  public static boolean hasThread(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals(name));
  }

  public static void await(Condition condition, String otherwise) {
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.holds()) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new AssertionError(otherwise);
      }
      LockSupport.parkNanos(2_000_000);
    }
  }

  /** Ends the requests over HTTP, and so their traces. */
  void stopHttp() {
    assertTrue(http.stop(PATIENCE), "requests were still under way");
  }

  @Override
  public void close() {
    try {
      awaitNoLiveBuffers();
    } finally {
      stopHttp();
      state.tracing().close(PATIENCE);
      nereid.close();
    }
  }
}
