package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferenceClient;
import io.nereid.client.Tensor;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.console.ConsoleOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** Shadows of a server's models: metrics, the console's events, and the command that promotes. */
class ShadowServerTest {

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path repository;

  /**
   * Version 2 doubles, version 3 does so by another factor, and version 4 too.
   *
   * @param config what the configuration says beside the backend
   */
  private void model(String config, float... factors) throws Exception {
    byte[] doubling = Files.readAllBytes(Path.of("../../native/test/models/scale.onnx"));
    Path directory = Files.createDirectories(repository.resolve("scale"));
    Files.writeString(directory.resolve("config.pbtxt"), "backend: \"onnxruntime\"\n" + config);
    for (int i = 0; i < factors.length; i++) {
      byte[] file = replaced(doubling, bytes(2), bytes(factors[i]));
      Path version = Files.createDirectory(directory.resolve(Integer.toString(i + 2)));
      Files.write(version.resolve("model.onnx"), file);
    }
  }

  private static byte[] bytes(float value) {
    return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array();
  }

  /** The only place of four bytes is the model's constant. */
  private static byte[] replaced(byte[] all, byte[] old, byte[] other) {
    byte[] changed = all.clone();
    int places = 0;
    for (int i = 0; i + 4 <= all.length; i++) {
      if (Arrays.equals(Arrays.copyOfRange(all, i, i + 4), old)) {
        System.arraycopy(other, 0, changed, i, 4);
        places++;
      }
    }
    assertEquals(1, places);
    return changed;
  }

  private NereidServer server(RepositoryOptions.Builder models) {
    return NereidServer.start(
        ServerOptions.DEFAULT
            .withHttp(HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT))
            .withGrpc(GrpcOptions.DEFAULT)
            .withMetrics(MetricsOptions.DEFAULT.withInterval(Duration.ZERO))
            .withRepository(models.repository(repository).build()));
  }

  private static InferResponse infer(InferenceClient client, float value) {
    return client.infer(
        InferRequest.builder("scale")
            .input("INPUT0", Tensor.ofFloats(new float[] {value, 1}, 1, 2))
            .build());
  }

  private static void send(NereidServer server, int count, float first) {
    for (String url :
        List.of(
            "http://localhost:" + server.httpPort(),
            "grpc://localhost:" + server.grpcPort().orElseThrow())) {
      try (InferenceClient client = InferenceClient.connect(url)) {
        for (int i = 0; i < count; i++) {
          float[] answer = infer(client, first + i).output("OUTPUT0").toFloatArray();
          assertArrayEquals(new float[] {2 * (first + i), 2}, answer, "the primary answers");
        }
      }
    }
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    URI uri = URI.create("http://localhost:" + port + path);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  /** The sample of a metric; NaN: there is none. */
  private static double metric(NereidServer server, String sample) throws Exception {
    String metrics = get(server.metricsPort().orElseThrow(), "/metrics").body();
    return metrics
        .lines()
        .filter(line -> line.startsWith(sample + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(sample.length() + 1)))
        .findFirst()
        .orElse(Double.NaN);
  }

  private static String sample(String name, int version) {
    return "nereid_shadow_%s{model=\"scale\",version=\"%s\"}".formatted(name, version);
  }

  private static void await(NereidServer server, String sample, double value) throws Exception {
    long startNs = System.nanoTime();
    while (metric(server, sample) != value) {
      assertTrue(
          System.nanoTime() - startNs < PATIENCE.toNanos(),
          () -> sample + " does not become " + value);
    }
  }

  /** The first event of a model's page. */
  private static Map<String, Object> event(NereidServer server, String model) throws Exception {
    URI uri =
        URI.create("http://localhost:%s/api/models/%s/events".formatted(server.httpPort(), model));
    try (HttpClient client = HttpClient.newHttpClient();
        Stream<String> lines =
            client
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofLines())
                .body()) {
      String data = lines.filter(line -> line.startsWith("data: ")).findFirst().orElseThrow();
      client.shutdownNow();
      return JSON.std.mapFrom(data.substring("data: ".length()));
    }
  }

  @Test
  void anotherAnswerIsSeenInMetricsAndConsole() throws Exception {
    model(
        "parameters { key: \"shadow_of\" value { string_value: \"2\" } }\n"
            + "version_policy { all {} }\n",
        2,
        2.002f,
        2);
    try (NereidServer server = server(RepositoryOptions.builder())) {
      send(server, 5, 1);
      for (int version : List.of(3, 4)) {
        await(server, sample("compared_total", version), 10);
        assertEquals(0, metric(server, sample("failed_total", version)));
        assertEquals(0, metric(server, sample("dropped_total", version)));
      }
      assertEquals(10, metric(server, sample("differing_total", 3)));
      assertEquals(0, metric(server, sample("differing_total", 4)));
      String error =
          "nereid_shadow_relative_error{model=\"scale\",version=\"3\",output=\"OUTPUT0\"}";
      assertEquals(1e-3, metric(server, error), 1e-5);
      assertEquals(
          10, metric(server, "nv_inference_request_success{model=\"scale\",version=\"3\"}"));

      assertEquals("2", event(server, "scale").get("version"));
      assertEquals(null, event(server, "scale").get("shadow"));
      Map<?, ?> shadow = (Map<?, ?>) event(server, "scale/versions/3").get("shadow");
      assertEquals(2, shadow.get("of"));
      assertEquals(10, shadow.get("differing"));
      Map<?, ?> output = (Map<?, ?>) ((List<?>) shadow.get("outputs")).getFirst();
      assertEquals("scale/OUTPUT0", output.get("output"));
      assertEquals(10, output.get("differing"));

      server.nereid().model("scale", 4).unload();
      assertTrue(Double.isNaN(metric(server, sample("compared_total", 4))));
      send(server, 1, 1);
      await(server, sample("compared_total", 3), 12);
      assertEquals(200, get(server.httpPort(), "/v2/models/scale/ready").statusCode());
      server.nereid().model("scale", 2).unload();
      assertEquals(
          503,
          get(server.httpPort(), "/v2/models/scale/ready").statusCode(),
          "a shadow does not serve");
    }
  }

  @Test
  void promotionLeavesNoGap() throws Exception {
    model("", 2, 3);
    AtomicBoolean ended = new AtomicBoolean();
    AtomicInteger answers = new AtomicInteger();
    try (NereidServer server = server(RepositoryOptions.builder().shadow("scale", 3, 2))) {
      Thread load =
          Thread.ofVirtual()
              .start(() -> {
                try (InferenceClient client =
                    InferenceClient.connect("http://localhost:" + server.httpPort())) {
                  float factor = 2;
                  while (!ended.get() || factor == 2) {
                    float answer = infer(client, 1).output("OUTPUT0").toFloatArray()[0];
                    if (answer == factor || (answer == 3 && factor == 2)) {
                      factor = answer;
                      answers.incrementAndGet();
                    } else {
                      throw new AssertionError("after " + factor + " came " + answer);
                    }
                  }
                } catch (RuntimeException | Error e) {
                  answers.set(Integer.MIN_VALUE);
                  throw e;
                }
              });
      while (answers.get() >= 0 && answers.get() < 50) {
        Thread.onSpinWait();
      }
      CommandLineRun promotion = promote(server, "3");
      assertEquals("version 3 of 'scale' serves" + System.lineSeparator(), promotion.out());
      int then = answers.get();
      while (answers.get() >= 0 && answers.get() < then + 50) {
        Thread.onSpinWait();
      }
      ended.set(true);
      load.join();
      assertTrue(answers.get() > 100, "no request failed");
      assertTrue(Double.isNaN(metric(server, sample("compared_total", 3))));
      assertEquals("3", event(server, "scale").get("version"));

      assertEquals(0, promote(server, "2").err().length(), "back again");
      send(server, 1, 1);
      CommandLineRun unknown = promote(server, "7");
      assertTrue(unknown.err().contains("'scale' version 7 is not found"), unknown.err());
      assertFalse(promote(server, "0").err().isEmpty());
    }
  }

  private static CommandLineRun promote(NereidServer server, String version) {
    CommandLineRun run = new CommandLineRun();
    run.run("promote", "scale", version, "-u", "localhost:" + server.httpPort());
    return run;
  }

  @Test
  void impossibleShadowsAreRefusedOnTheCommandLine() {
    for (String wrong : List.of("scale", "scale:3", "scale:3=3", "scale:0=2", ":3=2")) {
      CommandLineRun run = new CommandLineRun();
      assertEquals(2, run.run("serve", "--shadow", wrong));
      assertTrue(
          run.err().contains("expected --shadow MODEL:3=2, of two versions, got '" + wrong + "'"),
          run.err());
    }
    CommandLineRun run = new CommandLineRun();
    assertEquals(2, run.run("serve", "--shadow", "scale:3=2", "--shadow-share", "2"));
    assertTrue(run.err().contains("expected a share above 0 and at most 1, got 2.0"), run.err());
  }
}
