package io.nereid.server.http;

import io.nereid.NereidOptions;
import io.nereid.client.ClientOptions;
import io.nereid.client.InferenceClient;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.statistics.SequenceStatistics;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Many sequences over HTTP and gRPC while their models are loaded anew again and again: {@code
 * SequenceSoak SECONDS CLIENTS}, with the class path of the tests. Every answer is the sum of what
 * its sequence sent, and in the end no sequence and no buffer is left.
 */
final class SequenceSoak extends Soak {

  private static final Path MODEL = Path.of("../../native/test/models/accumulate.onnx");

  /** After which the server gives up a sequence whose client has left. */
  private static final Duration IDLE = Duration.ofSeconds(10);

  /** Fewer than there are clients, so that sequences wait for a place. */
  private static final int ROWS = 8;

  private static final int INSTANCES = 2;
  private static final int SEQUENCES_BETWEEN_LOADS = 100;

  private static final Map<String, SequenceBatching> STRATEGIES =
      Map.of("direct", SequenceBatching.direct(), "oldest", SequenceBatching.oldest(2 * ROWS));

  final LongAdder ended = new LongAdder();
  final LongAdder cancelled = new LongAdder();
  final LongAdder takenAlong = new LongAdder();
  final LongAdder left = new LongAdder();
  final LongAdder idled = new LongAdder();
  private final AtomicLong begun = new AtomicLong();

  public static void main(String[] args) throws Exception {
    if (args.length != 2) {
      throw new IllegalArgumentException("expected SECONDS CLIENTS");
    }
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(Integer.parseInt(args[0]));
    new SequenceSoak()
        .run(Integer.parseInt(args[1]), () -> System.nanoTime() - deadlineNs < 0)
        .exit();
  }

  /** Begins a sequence, and returns its number. */
  long begin() {
    return begun.incrementAndGet();
  }

  /** How many sequences have begun. */
  long begun() {
    return begun.get();
  }

  private static ModelSpec model(String name) {
    return ModelSpec.builder(name)
        .backend("onnxruntime")
        .parameter("model_path", MODEL.toAbsolutePath().toString())
        .maxBatchSize(ROWS)
        .instanceCount(INSTANCES)
        .input("INPUT", DataType.FP32, 1)
        .output("OUTPUT", DataType.FP32, 1)
        .sequenceBatching(
            STRATEGIES
                .get(name)
                .withMaxIdle(IDLE)
                .withState(State.of("STATE_IN", "STATE_OUT", DataType.FP32, 1)))
        .build();
  }

  /** Runs it, once: clients begin sequences as long as they shall. */
  Verdict run(int clients, BooleanSupplier goesOn) throws InterruptedException {
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(RepositoryOptions.builder().explicit().build())
            .withRuntime(NereidOptions.builder().drainTimeout(Duration.ofMinutes(10)).build())
            .withGrpc(GrpcOptions.DEFAULT);
    ClientOptions patient = ClientOptions.builder().deadline(Duration.ofMinutes(5)).build();
    try (NereidServer server = NereidServer.start(options)) {
      STRATEGIES.keySet().forEach(name -> server.nereid().load(model(name)));
      String http = "http://localhost:" + server.httpPort();
      String grpc = "grpc://localhost:" + server.grpcPort().orElseThrow();
      try (InferenceClient one = InferenceClient.connect(http, patient);
          InferenceClient other = InferenceClient.connect(grpc, patient)) {
        for (int i = 0; i < clients; i++) {
          SequenceSoakClient client =
              new SequenceSoakClient(
                  server.httpPort(), one, other, List.copyOf(STRATEGIES.keySet()), IDLE, this, i);
          start("client " + i, client, goesOn);
        }
        for (String name : STRATEGIES.keySet()) {
          start("reload " + name, () -> reload(server, name, goesOn), goesOn);
        }
        join();
      }
      return verdict(server);
    }
  }

  /** Loads a model anew, which ends when the sequences of the load before have. */
  private void reload(NereidServer server, String name, BooleanSupplier goesOn) {
    server.nereid().load(model(name));
    reloads.increment();
    long next = begun.get() + SEQUENCES_BETWEEN_LOADS;
    while (begun.get() < next && goesOn.getAsBoolean()) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private Verdict verdict(NereidServer server) {
    String figures =
        String.format(
            Locale.ROOT,
            "%,d sequences begun, %,d ended, %,d requests answered with the right sum, %,d"
                + " cancelled (%,d of them with a request behind them), %,d sequences left by their"
                + " clients, %,d whose clients were too slow, %,d reloads",
            begun.get(),
            ended.sum(),
            answered.sum(),
            cancelled.sum(),
            takenAlong.sum(),
            left.sum(),
            idled.sum(),
            reloads.sum());
    try {
      for (String name : STRATEGIES.keySet()) {
        TestServer.await(() -> isEmpty(sequences(server, name)), "sequences of " + name);
      }
      TestServer.await(
          () -> server.nereid().poolStatistics().liveBuffers() == 0, "buffers are still in use");
    } catch (AssertionError e) {
      STRATEGIES.keySet().forEach(name -> fault(name + ": " + sequences(server, name)));
      fault(server.nereid().poolStatistics().toString());
    }
    return new Verdict(figures, faults());
  }

  private static SequenceStatistics sequences(NereidServer server, String name) {
    return server.nereid().model(name).statistics().sequences().orElseThrow();
  }

  private static boolean isEmpty(SequenceStatistics now) {
    return now.active() == 0 && now.backlog() == 0 && now.stateBytes() == 0;
  }
}
