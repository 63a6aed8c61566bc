package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceId;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.Recorder;
import io.nereid.recording.Recording;
import io.nereid.recording.RecordingOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** Requests that were recorded are sent again, and arrive as they were. */
@SuppressWarnings("try") // recorders are opened to be closed
class ReplayCommandTest {

  private static final Path MODELS = Path.of("..", "..", "examples", "models");
  private static final int REQUESTS = 40;
  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir private Path directory;

  private CommandLineRun last;

  private Path recorded() {
    return directory.resolve("recorded");
  }

  private static RepositoryOptions models(String... names) {
    RepositoryOptions.Builder models = RepositoryOptions.builder().repository(MODELS);
    List.of(names).forEach(models::explicit);
    return models.build();
  }

  /** Forty requests to two models, of all kinds of tensors and settings, and one that fails. */
  @BeforeEach
  void record() {
    try (Nereid nereid = Nereid.open(models("identity_fp32", "simple_string"));
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(recorded()))) {
      Model identity = nereid.model("identity_fp32");
      Model strings = nereid.model("simple_string");
      for (int i = 0; i < REQUESTS / 2; i++) {
        float[] values = new float[i == 7 ? 50_000 : 1 + i];
        values[0] = i;
        finish(
            identity
                .newRequest()
                .id("ä" + i)
                .priority(i % 2)
                .deadline(HOUR)
                .parameter("number", i)
                .parameter("text", "täxt")
                .input("INPUT0", Tensor.ofFloats(values, 1, values.length)));
        String[] texts = new String[16];
        for (int j = 0; j < texts.length; j++) {
          texts[j] = Integer.toString(i + j);
        }
        Tensor tensor = Tensor.ofStrings(texts, 1, 16);
        InferRequest request = strings.newRequest().input("INPUT0", tensor).output("OUTPUT1");
        finish(request.input("INPUT1", tensor));
      }
      recorder.close();
      assertEquals(REQUESTS, recorder.statistics().recorded());
    }
  }

  private static void finish(InferRequest request) {
    try (request;
        var response = request.infer()) {
      response.outputNames();
    }
  }

  private static List<RecordedCall> calls(Recording recording) throws IOException {
    List<RecordedCall> calls = new ArrayList<>();
    for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
      calls.add(call);
    }
    calls.sort(Comparator.comparingLong(RecordedCall::arrivalNs));
    return calls;
  }

  /** Sends each request once: another {@code --warm-up} among the arguments counts more. */
  private int run(String command, String... arguments) {
    last = new CommandLineRun();
    Stream<String> all = Stream.concat(Stream.of(command, "--warm-up", "0"), Stream.of(arguments));
    return last.run(all.toArray(String[]::new));
  }

  @Test
  void requestsOfTheWarmUpDoNotCount() {
    ServerOptions options =
        ServerOptions.DEFAULT.withRepository(models("identity_fp32", "simple_string"));
    try (NereidServer server = NereidServer.start(options)) {
      String at = url(server, "http");
      int code =
          run("replay", recorded().toString(), "-u", at, "--speed", "max", "--warm-up", "200");
      assertEquals(0, code, last::err);
      assertTrue(last.out().startsWith(REQUESTS + " requests of"), last.out());
      assertTrue(
          server.nereid().model("simple_string").statistics().success().count() > REQUESTS / 2);
    }
  }

  private static String url(NereidServer server, String protocol) {
    return protocol.equals("http")
        ? "localhost:" + server.httpPort()
        : "grpc://localhost:" + server.grpcPort().orElseThrow();
  }

  /** A recording of the replay has what the first one has. */
  @ParameterizedTest
  @CsvSource({"http,1", "grpc,1", "http,max", "grpc,4"})
  void requestsArriveAsTheyWereRecorded(String protocol, String speed) throws IOException {
    Path again = directory.resolve("again");
    Path json = directory.resolve("result.json");
    Path html = directory.resolve("result.html");
    ServerOptions options =
        ServerOptions.DEFAULT
            .withGrpc(GrpcOptions.DEFAULT)
            .withRecording(RecordingOptions.to(again))
            .withRecordAtOnce(true)
            .withRepository(models("identity_fp32", "simple_string"));
    try (NereidServer server = NereidServer.start(options)) {
      String at = url(server, protocol);
      int code =
          run(
              "replay",
              recorded().toString(),
              "-u",
              at,
              "--speed",
              speed,
              "--concurrency",
              "1",
              "--json",
              json.toString(),
              "--html",
              html.toString());
      assertEquals(0, code, () -> last.err() + last.out());
    }
    assertTrue(last.out().startsWith(REQUESTS + " requests of "), last.out());
    assertTrue(Files.readString(html).contains("identity_fp32"));
    Map<String, Object> result = JSON.std.mapFrom(Files.readString(json));
    assertEquals(REQUESTS, result.get("requests"));
    assertEquals(speed.equals("max"), result.get("arrival_error_us") == null);
    try (Recording before = Recording.open(recorded());
        Recording after = Recording.open(again)) {
      List<RecordedCall> sent = calls(before);
      List<RecordedCall> came = calls(after);
      assertEquals(sent.size(), came.size());
      for (int i = 0; i < sent.size(); i++) {
        assertSame(sent.get(i), came.get(i));
        assertDeadline(sent.get(i), came.get(i), protocol);
      }
    }
  }

  /** Over HTTP a deadline bounds the time in the queue. */
  private static void assertDeadline(RecordedCall sent, RecordedCall came, String protocol) {
    long ns = protocol.equals("http") ? came.timeoutNs() : came.deadlineNs();
    assertEquals(sent.deadlineNs() != 0, ns != 0);
    assertEquals(sent.deadlineNs(), ns, HOUR.toNanos() / 2.0);
  }

  private static void assertSame(RecordedCall sent, RecordedCall came) {
    assertEquals(sent.model(), came.model());
    assertEquals(sent.id(), came.id());
    assertEquals(sent.priority(), came.priority());
    assertEquals(sent.parameters(), came.parameters());
    assertEquals(sent.wantedOutputs(), came.wantedOutputs());
    assertEquals(sent.inputs().size(), came.inputs().size());
    for (int i = 0; i < sent.inputs().size(); i++) {
      RecordedTensor one = sent.inputs().get(i);
      RecordedTensor other = came.inputs().get(i);
      assertEquals(one.name(), other.name());
      assertEquals(one.dataType(), other.dataType());
      assertEquals(one.shape(), other.shape());
      assertEquals(one.content().get(), other.content().get());
    }
  }

  @Test
  void requestsAreSentWithinTheProcess() {
    assertEquals(
        0,
        run(
            "replay",
            recorded().toString(),
            MODELS.toString(),
            "--speed",
            "max",
            "-m",
            "simple_string"),
        () -> last.err());
    assertTrue(last.out().startsWith(REQUESTS / 2 + " requests of "), last.out());
  }

  @Test
  void aFailureThatIsNewIsToldAndEndsWithOne() {
    try (NereidServer server =
        NereidServer.start(ServerOptions.DEFAULT.withRepository(models("identity_fp32")))) {
      assertEquals(1, run("replay", recorded().toString(), "-u", url(server, "http")), last::err);
    }
    assertTrue(
        last.out().contains("simple_string: 20 requests failed that had been answered"),
        last.out());
    assertTrue(last.out().contains("first failure: HTTP 4"), last.out());
  }

  /** It goes after the first answer, and comes back while requests are still due. */
  @Test
  @Tag("slow")
  void aServerThatIsAwayForAWhileCostsSomeAnswersOnly() {
    ServerOptions options =
        ServerOptions.DEFAULT.withRepository(models("identity_fp32", "simple_string"));
    NereidServer server = NereidServer.start(options);
    int port = server.httpPort();
    CompletableFuture<NereidServer> again =
        CompletableFuture.supplyAsync(() -> {
          Model model = server.nereid().model("simple_string");
          while (model.statistics().success().count() == 0) {
            LockSupport.parkNanos(1_000_000);
          }
          server.close();
          LockSupport.parkNanos(2_000_000_000L);
          return NereidServer.start(options.withHttp(HttpOptions.DEFAULT.withPort(port)));
        });
    try {
      run("replay", recorded().toString(), "-u", "localhost:" + port, "--speed", "0.01");
    } finally {
      again.join().close();
    }
    assertTrue(last.out().startsWith(REQUESTS + " requests of "), last::err);
  }

  @Test
  @Tag("slow")
  void aServerThatAnswersNothingEndsTheReplay() {
    CountDownLatch freed = new CountDownLatch(1);
    ServerOptions options =
        ServerOptions.DEFAULT.withRepository(RepositoryOptions.builder().explicit().build());
    try (NereidServer server = NereidServer.start(options)) {
      server
          .nereid()
          .load(
              ModelSpec.builder("identity_fp32")
                  .maxBatchSize(1)
                  .input("INPUT0", DataType.FP32, -1)
                  .output("OUTPUT0", DataType.FP32, -1)
                  .backend(context ->
                      batch -> {
                        freed.await();
                        batch.output("OUTPUT0", batch.input("INPUT0"));
                      })
                  .build());
      try {
        String from = recorded().toString();
        String[] one = {from, "-u", url(server, "http"), "--speed", "max", "--concurrency", "1"};
        assertEquals(1, run("replay", one), last::err);
      } finally {
        freed.countDown();
      }
    }
    assertTrue(last.out().contains(" 20 have no answer"), last.out());
    assertTrue(last.out().contains("first failure: no answer came for 60 s"), last.out());
  }

  /** Three sequences at a time, replayed all at once: each keeps its order. */
  @ParameterizedTest
  @CsvSource({"http", "grpc"})
  void sequencesKeepTheirOrder(String protocol) throws IOException {
    Path sequences = directory.resolve("sequences");
    ModelSpec spec = SequenceModel.spec();
    try (Nereid nereid = Nereid.create();
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(sequences))) {
      Model model = nereid.load(spec);
      for (int i = 0; i < 10; i++) {
        for (long id = 1; id <= 3; id++) {
          InferRequest request =
              model
                  .newRequest()
                  .sequence(SequenceId.of(id))
                  .sequenceStart(i == 0)
                  .sequenceEnd(i == 9);
          finish(request.input("IN", Tensor.ofFloats(new float[] {i}, 1, 1)));
        }
      }
    }
    try (NereidServer server =
        NereidServer.start(ServerOptions.DEFAULT.withGrpc(GrpcOptions.DEFAULT))) {
      server.nereid().load(spec);
      assertEquals(
          0,
          run("replay", sequences.toString(), "-u", url(server, protocol), "--speed", "max"),
          () -> last.out() + last.err());
    }
    assertTrue(last.out().contains("waited for the answer to the one before"), last.out());
  }

  @Test
  void mistakesAreTold() {
    Path nothing = directory.resolve("nothing");
    assertEquals(1, run("replay", nothing.toString(), "-u", "localhost:1"), last::out);
    assertTrue(last.err().contains("the recording cannot be read"), last.err());
    assertEquals(2, run("replay", recorded().toString(), "--speed", "0"), last::out);
    assertEquals(2, run("replay", recorded().toString(), "--speed", "fast"), last::out);
    assertTrue(last.err().contains("--speed 1, 2.5 or max"), last.err());
    assertEquals(1, run("replay", recorded().toString(), "-m", "other"), last::out);
    assertTrue(last.err().contains("there is no request"), last.err());
    assertEquals(
        2, run("replay", recorded().toString(), MODELS.toString(), "-u", "h:1"), last::out);
  }

  /** A model of sequences that fails where a request is out of order. */
  private static final class SequenceModel {

    static ModelSpec spec() {
      return ModelSpec.builder("counting")
          .maxBatchSize(4)
          .sequenceBatching(SequenceBatching.direct())
          .input("IN", DataType.FP32, 1)
          .output("OUT", DataType.FP32, 1)
          .backend(context -> {
            Map<Object, Float> next = new ConcurrentHashMap<>();
            return batch -> {
              for (int i = 0; i < batch.requestCount(); i++) {
                float now = batch.request(i).input("IN").floatAt(0);
                Object sequence = batch.request(i).sequence();
                float expected = now == 0 ? 0 : next.getOrDefault(sequence, -1f);
                if (now != expected) {
                  throw new IllegalStateException("expected " + expected + ", got " + now);
                }
                next.put(sequence, now + 1);
              }
              batch.output("OUT", batch.input("IN"));
            };
          })
          .build();
    }
  }
}
