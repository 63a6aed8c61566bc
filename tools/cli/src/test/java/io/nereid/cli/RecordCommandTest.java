package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.InferRequest;
import io.nereid.client.InferenceClient;
import io.nereid.client.Tensor;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.Recording;
import io.nereid.recording.RecordingOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.metrics.MetricsOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Filter;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Recordings of a server's requests over both protocols, and the command that begins them. */
class RecordCommandTest {

  private static final float[] NUMBERS = {1, 2, 3, 4};

  @TempDir private Path directory;

  private CommandLineRun last;

  private static NereidServer server(ServerOptions options) {
    return NereidServer.start(
        options
            .withGrpc(GrpcOptions.DEFAULT)
            .withMetrics(MetricsOptions.DEFAULT)
            .withRepository(
                RepositoryOptions.builder()
                    .repository(Path.of("..", "..", "examples", "models"))
                    .explicit("identity_fp32")
                    .build()));
  }

  private int run(NereidServer server, String... arguments) {
    last = new CommandLineRun();
    String[] all = new String[arguments.length + 3];
    all[0] = "record";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[all.length - 2] = "-u";
    all[all.length - 1] = "localhost:" + server.httpPort();
    return last.run(all);
  }

  private void printed(NereidServer server, String expected, String... arguments) {
    assertEquals(0, run(server, arguments), last::err);
    assertTrue(last.out().contains(expected), last.out());
  }

  private static void send(String url, String id) {
    try (InferenceClient client = InferenceClient.connect(url)) {
      float[] answer =
          client
              .infer(
                  InferRequest.builder("identity_fp32")
                      .id(id)
                      .deadline(Duration.ofMinutes(1))
                      .input("INPUT0", Tensor.ofFloats(NUMBERS, 1, 4))
                      .build())
              .output("OUTPUT0")
              .toFloatArray();
      assertArrayEquals(NUMBERS, answer);
    }
  }

  private static void sendOverBoth(NereidServer server, String id) {
    send("http://localhost:" + server.httpPort(), id + " over HTTP");
    send("grpc://localhost:" + server.grpcPort().orElseThrow(), id + " over gRPC");
  }

  @Test
  void aRunningServerBeginsAndEndsRecordings() throws Exception {
    RecordingOptions how = RecordingOptions.to(directory.resolve("made")).withOutputs(true);
    try (NereidServer server =
        server(ServerOptions.DEFAULT.withRecording(how).withRecordAtOnce(false))) {
      sendOverBoth(server, "before");
      printed(server, "recording=false");
      assertTrue(Files.notExists(how.directory()));
      printed(server, "recording=true", "start");
      sendOverBoth(server, "recorded");
      printed(server, "recorded=2", "stop");
      sendOverBoth(server, "after");
      printed(server, "recording=true", "start");
      sendOverBoth(server, "again");
      printed(server, "recording=false", "stop");
      String metrics = metrics(server);
      assertTrue(metrics.contains("\nnereid_recorded_requests_total 4\n"), metrics);
      assertTrue(metrics.contains("\nnereid_recording_dropped_total 0\n"), metrics);
    }
    try (Recording recording = Recording.open(how.directory())) {
      for (String id :
          List.of(
              "recorded over HTTP", "recorded over gRPC", "again over HTTP", "again over gRPC")) {
        RecordedCall call = recording.next();
        assertEquals(id, call.id());
        assertEquals("identity_fp32", call.model());
        ByteBuffer sent = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        sent.asFloatBuffer().put(NUMBERS);
        assertEquals(sent, call.inputs().getFirst().content().get());
        assertEquals(sent, call.outputs().getFirst().content().get());
        assertEquals(List.of(1L, 4L), call.inputs().getFirst().shape());
      }
      assertEquals(null, recording.next());
      assertEquals(List.of(), recording.damage());
    }
  }

  private static String metrics(NereidServer server) throws Exception {
    URI uri = URI.create("http://localhost:" + server.metricsPort().orElseThrow() + "/metrics");
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  /**
   * The directory is gone, and the line of the log that says so waits, as would a disk that hangs.
   */
  @Test
  void figuresAreThereWhileARecordingEnds() throws Exception {
    RecordingOptions how =
        RecordingOptions.to(directory.resolve("gone"))
            .withRetention(RecordingOptions.LEAST_BYTES, Optional.empty());
    CountDownLatch stuck = new CountDownLatch(1);
    CountDownLatch freed = new CountDownLatch(1);
    Logger logger = Logger.getLogger("io.nereid.recording");
    Filter filter =
        line -> {
          stuck.countDown();
          try {
            freed.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return true;
        };
    try (NereidServer server =
        server(ServerOptions.DEFAULT.withRecording(how).withRecordAtOnce(true))) {
      logger.setFilter(filter);
      try (Stream<Path> segments = Files.list(how.directory())) {
        Files.delete(segments.findFirst().orElseThrow());
      }
      Files.delete(how.directory());
      sendLarge(server, 1); // fills the segment
      sendLarge(server, 2); // needs another one
      stuck.await();
      String url = "localhost:" + server.httpPort();
      Thread stopping =
          Thread.ofPlatform().start(() -> new CommandLineRun().run("record", "stop", "-u", url));
      do {
        assertEquals(0, run(server), last::err);
      } while (last.out().contains("recording=true"));
      assertTrue(metrics(server).contains("\nnereid_recorded_requests_total 1\n"));
      assertFalse(stopping.join(Duration.ofMillis(500)), "the recording has ended");
      freed.countDown();
      stopping.join();
      printed(server, "recorded=1\ndropped=1\n");
    } finally {
      freed.countDown();
      logger.setFilter(null);
    }
  }

  /** Sends numbers that are not the same twice and that deflate badly. */
  private static void sendLarge(NereidServer server, int seed) {
    float[] numbers = new float[100_000];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (float) Math.sin(seed + i * 1e3);
    }
    try (InferenceClient client =
        InferenceClient.connect("http://localhost:" + server.httpPort())) {
      Tensor input = Tensor.ofFloats(numbers, 1, numbers.length);
      client.infer(InferRequest.builder("identity_fp32").input("INPUT0", input).build());
    }
  }

  @Test
  void recordingBeginsWithTheServerWhereItIsWanted() throws Exception {
    RecordingOptions how = RecordingOptions.to(directory);
    try (NereidServer server =
        server(ServerOptions.DEFAULT.withRecording(how).withRecordAtOnce(true))) {
      sendOverBoth(server, "it");
    }
    try (Recording recording = Recording.open(directory)) {
      assertEquals("it over HTTP", recording.next().id());
      assertEquals("it over gRPC", recording.next().id());
      assertEquals(List.of(), recording.damage());
    }
  }

  @Test
  void aClientChoosesNoDirectory() {
    try (NereidServer server = server(ServerOptions.DEFAULT)) {
      printed(server, "recording=false");
      assertEquals(1, run(server, "start"), last::out);
      assertTrue(last.err().contains("--record DIR,start=false"), last.err());
      assertEquals(1, run(server, "start", "-i", "grpc"), last::out);
      assertTrue(last.err().contains("expected -i http"), last.err());
      assertEquals(2, run(server, "pause"), last::out);
      assertTrue(last.err().contains("START, STOP"), last.err());
    }
  }

  @Test
  void theFlagSaysAll() {
    SettingsRun run =
        new SettingsRun(
            Map.of(),
            "--record=/r,models=a,models=b,share=0.25,redact=x,outputs=true,max=500m,age=7d,"
                + "memory=8m,start=false");
    assertEquals(0, run.exitCode());
    RecordArguments arguments = run.mixin(RecordArguments.class);
    assertEquals(
        Optional.of(
            RecordingOptions.to(Path.of("/r"))
                .withModels(Set.of("a", "b"))
                .withShare(0.25)
                .withRedacted(Set.of("x"))
                .withOutputs(true)
                .withRetention(500L << 20, Optional.of(Duration.ofDays(7)))
                .withMemory(8 << 20)),
        arguments.options());
    assertEquals(false, arguments.atOnce());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",share=1",
        "d,share=2",
        "d,share=x",
        "d,max=10x",
        "d,max=5",
        "d,age=1",
        "d,age=0d",
        "d,outputs=1",
        "d,models",
        "d,other=1",
        "d,memory=9t"
      })
  void wrongFlagsAreRefused(String value) {
    last = new CommandLineRun();
    assertEquals(2, last.run("serve", "--record", value), last::out);
    assertTrue(last.err().contains("expected "), last.err());
  }
}
