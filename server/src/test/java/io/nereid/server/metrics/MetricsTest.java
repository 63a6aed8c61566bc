package io.nereid.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.BackendInstance;
import io.nereid.model.DynamicBatching;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.GateBackend;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics that a scraper gets. */
class MetricsTest {

  private static final String[] ONES = {"model", "ones", "version", "1"};

  private final HttpClient client = HttpClient.newHttpClient();
  private NereidServer server;

  @BeforeEach
  void start() {
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRuntime(
                    NereidOptions.builder().cacheByteLimit(1 << 20).rateLimit(true).build())
                .withMetrics(MetricsOptions.DEFAULT.withInterval(Duration.ZERO)));
  }

  @AfterEach
  void stop() {
    client.close();
    nereid().models().forEach(Model::unload); // whatever sequences are there
    server.close();
  }

  private Nereid nereid() {
    return server.nereid();
  }

  private static ModelSpec.Builder identity(String name) {
    return ModelSpec.builder(name)
        .backend("identity")
        .maxBatchSize(8)
        .input("IN", DataType.FP32, 1)
        .output("OUT", DataType.FP32, 1);
  }

  private void infer(String model, int rows) {
    try (InferRequest request = nereid().model(model).newRequest()) {
      request.input("IN", Tensor.ofFloats(new float[rows], rows, 1));
      request.infer().close();
    }
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.metricsPort().orElseThrow() + path);
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri(path))
            .timeout(Duration.ofSeconds(60))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  private Exposition scrape() throws Exception {
    HttpResponse<String> response = send("GET", "/metrics");
    assertEquals(200, response.statusCode());
    assertEquals(
        "text/plain; version=0.0.4; charset=utf-8",
        response.headers().firstValue("Content-Type").orElseThrow());
    return Exposition.parse(response.body());
  }

  @Test
  void tracesThatWereLostAreCounted() throws Exception {
    Exposition metrics = scrape();
    assertEquals("counter", metrics.family("nereid_traces_dropped_total").type());
    assertEquals(0, metrics.value("nereid_traces_dropped_total"));
  }

  @Test
  void requestsAreCountedByTritonsNames() throws Exception {
    nereid().load(identity("ones").build());
    infer("ones", 1);
    infer("ones", 3);
    infer("ones", 3);
    Exposition metrics = scrape();
    assertEquals(3, metrics.value("nv_inference_request_success", ONES));
    assertEquals(7, metrics.value("nv_inference_count", ONES));
    assertEquals(3, metrics.value("nv_inference_exec_count", ONES));
    assertEquals(0, metrics.value("nv_inference_pending_request_count", ONES));
    for (String what : new String[] {"request", "queue", "compute_input", "compute_infer"}) {
      assertEquals("counter", metrics.family("nv_inference_" + what + "_duration_us").type());
    }
    assertEquals("gauge", metrics.family("nv_inference_pending_request_count").type());
    double us = metrics.value("nv_inference_request_duration_us", ONES);
    double seconds = metrics.value("nereid_inference_request_duration_seconds_sum", ONES);
    assertEquals(us, Math.floor(seconds * 1e6 + 1e-3), 1);
    assertTrue(seconds > 0 && seconds < 60, "took " + seconds);
    for (String what : new String[] {"request", "queue", "compute"}) {
      assertEquals(3, metrics.value("nereid_inference_" + what + "_duration_seconds_count", ONES));
    }
    assertEquals(3, metrics.value("nv_inference_first_response_histogram_ms_count", ONES));
    String size = "nereid_inference_batch_size";
    assertEquals(7, metrics.value(size + "_sum", ONES));
    assertEquals(1, metrics.value(size + "_bucket", "model", "ones", "version", "1", "le", "2"));
    assertEquals(3, metrics.value(size + "_bucket", "model", "ones", "version", "1", "le", "4"));
  }

  @Test
  void batchesAreCountedByWhyTheyAreNotLarger() throws Exception {
    nereid().load(identity("ones").build());
    nereid().load(identity("many").dynamicBatching(DynamicBatching.create()).build());
    infer("ones", 3);
    infer("many", 1);
    infer("many", 8);
    Exposition metrics = scrape();
    assertEquals("counter", metrics.family("nereid_batch_ends_total").type());
    assertEquals(1, ends(metrics, "ones", "single"));
    assertEquals(0, ends(metrics, "ones", "idle"));
    assertEquals(1, ends(metrics, "many", "idle"));
    assertEquals(1, ends(metrics, "many", "full"));
    for (String reason : List.of("single", "unlike", "delay", "objective", "drain")) {
      assertEquals(0, ends(metrics, "many", reason));
    }
  }

  private static double ends(Exposition metrics, String model, String reason) {
    return metrics.value(
        "nereid_batch_ends_total", "model", model, "version", "1", "reason", reason);
  }

  @Test
  void sequencesAreCounted() throws Exception {
    Model model =
        nereid()
            .load(
                identity("ones")
                    .sequenceBatching(SequenceBatching.oldest(5).withMaxIdle(Duration.ofHours(1)))
                    .build());
    for (int id = 1; id <= 3; id++) {
      try (Model.Sequence sequence = model.sequence(id);
          InferRequest request =
              (id < 3 ? sequence.newRequest() : sequence.lastRequest())
                  .input("IN", Tensor.ofFloats(new float[] {1}, 1, 1))) {
        request.infer().close();
      }
    }
    Exposition metrics = scrape();
    assertEquals(5, metrics.value("nereid_sequences_slots", ONES));
    assertEquals(2, metrics.value("nereid_sequences_active", ONES));
    assertEquals(0, metrics.value("nereid_sequences_backlog", ONES));
    assertEquals(0, metrics.value("nereid_sequences_state_bytes", ONES));
    assertEquals(3, metrics.value("nereid_sequences_started_total", ONES));
    assertEquals(1, metrics.value("nereid_sequences_ended_total", ONES));
    assertEquals(0, metrics.value("nereid_sequences_idle_ended_total", ONES));
  }

  @Test
  void anIsolatedModelTellsOfItsProcess() throws Exception {
    Model model = nereid().load(identity("ones").isolation("process").build());
    infer("ones", 1);
    assertEquals(1, scrape().value("nereid_isolation_up", ONES));
    assertEquals(0, scrape().value("nereid_isolation_restarts_total", ONES));
    assertTrue(scrape().value("nereid_isolation_resident_bytes", ONES) > 0);
    ProcessHandle.of(model.isolationStatistics().orElseThrow().process())
        .orElseThrow()
        .destroyForcibly();
    while (scrape().value("nereid_isolation_restarts_total", ONES) == 0) {
      Thread.sleep(5);
    }
    infer("ones", 1);
    assertEquals(1, scrape().value("nereid_isolation_up", ONES));
  }

  private ModelSpec limited(String name, GateBackend gate) {
    var limiter =
        new InstanceGroup.RateLimiter(List.of(new InstanceGroup.Resource("R1", false, 1)), 1);
    return ModelSpec.builder(name)
        .backend(gate)
        .instances(
            new InstanceGroup("", InstanceGroup.Kind.CPU, 1, List.of(), List.of(), limiter, ""))
        .input("IN", DataType.FP32, 1)
        .output("OUT", DataType.FP32, 1)
        .build();
  }

  @Test
  void resourcesThatInstancesWaitForAreTold() throws Exception {
    GateBackend first = new GateBackend();
    GateBackend second = new GateBackend();
    Model holds = nereid().load(limited("holds", first));
    Model waits = nereid().load(limited("waits", second));
    Tensor one = Tensor.ofFloats(new float[] {1}, 1);
    String[] resource = {"resource", "R1", "device", "0"};
    String[] instance = {"model", "waits", "version", "1", "instance", "0"};
    String[] awaited = Stream.of(instance, resource).flatMap(Stream::of).toArray(String[]::new);
    try (InferRequest held = holds.newRequest().input("IN", one);
        InferRequest waiting = waits.newRequest().input("IN", one)) {
      var answer = held.inferAsync();
      first.awaitBatch();
      assertEquals(0, scrape().value("nereid_resource_free", resource));
      var later = waiting.inferAsync();
      while (waits.instanceStatistics().getFirst().awaited().isEmpty()) {
        Thread.sleep(1);
      }
      Exposition metrics = scrape();
      assertEquals(1, metrics.value("nereid_resource_total", resource));
      assertEquals(1, metrics.value("nereid_resource_waiting_instances", resource));
      assertEquals(1, metrics.value("nereid_instance_awaited", awaited));
      assertEquals(1, metrics.value("nereid_instance_waits_total", instance));
      first.open(1);
      answer.get(60, TimeUnit.SECONDS).close();
      second.open(1);
      later.get(60, TimeUnit.SECONDS).close();
    }
    Exposition after = Exposition.await(this::scrape, 1, "nereid_resource_free", resource);
    assertEquals(1, after.value("nereid_instance_waits_total", instance));
  }

  @Test
  void durationsFallIntoTheirBuckets() throws Exception {
    BackendInstance slow =
        batch -> {
          Thread.sleep(30); // what is measured is at least this
          batch.output("OUT", batch.input("IN"));
        };
    nereid().load(identity("ones").backend(context -> slow).build());
    infer("ones", 1);
    Exposition metrics = scrape();
    String[] below = {"model", "ones", "version", "1", "le", "0.025"};
    String[] above = {"model", "ones", "version", "1", "le", "10"};
    for (String what : new String[] {"request", "compute"}) {
      String bucket = "nereid_inference_" + what + "_duration_seconds_bucket";
      assertEquals(0, metrics.value(bucket, below));
      assertEquals(1, metrics.value(bucket, above));
    }
    double seconds = metrics.value("nereid_inference_compute_duration_seconds_sum", ONES);
    assertTrue(seconds >= 0.03, "took " + seconds);
  }

  @Test
  void failuresHaveReasons() throws Exception {
    BackendInstance broken =
        batch -> {
          throw new IOException("broken");
        };
    nereid().load(identity("ones").backend(context -> broken).build());
    assertFails(1);
    assertFails(9); // more than a batch may have
    Exposition metrics = scrape();
    String name = "nv_inference_request_failure";
    assertEquals(1, metrics.value(name, "model", "ones", "version", "1", "reason", "BACKEND"));
    assertEquals(1, metrics.value(name, "model", "ones", "version", "1", "reason", "OTHER"));
    assertEquals(0, metrics.value(name, "model", "ones", "version", "1", "reason", "REJECTED"));
    assertEquals(0, metrics.value(name, "model", "ones", "version", "1", "reason", "CANCELED"));
    assertEquals(0, metrics.value("nv_inference_request_success", ONES));
  }

  private void assertFails(int rows) {
    try {
      infer("ones", rows);
      throw new AssertionError("it did not fail");
    } catch (NereidException e) {
      // As it should.
    }
  }

  @Test
  void theCacheIsToldOfModelsThatUseIt() throws Exception {
    nereid().load(identity("ones").responseCache(true).build());
    nereid().load(identity("other").build());
    infer("ones", 1);
    infer("ones", 1);
    Exposition metrics = scrape();
    assertEquals(1, metrics.value("nv_cache_num_hits_per_model", ONES));
    assertEquals(1, metrics.value("nv_cache_num_misses_per_model", ONES));
    assertEquals(1, metrics.family("nv_cache_hit_duration_per_model").samples().size());
    assertEquals(1, metrics.family("nv_cache_miss_duration_per_model").samples().size());
    assertEquals(1, metrics.value("nereid_cache_entries"));
    assertEquals(1 << 20, metrics.value("nereid_cache_limit_bytes"));
  }

  @Test
  void namesOfModelsAreEscaped() throws Exception {
    String name = "a\"b\\n\n{}=,\u00e9\u6f22";
    nereid().load(identity(name).build());
    infer(name, 2);
    assertEquals(2, scrape().value("nv_inference_count", "model", name, "version", "1"));
  }

  @Test
  void aReloadStartsAtZeroAndAnUnloadEndsTheSeries() throws Exception {
    nereid().load(identity("ones").build());
    infer("ones", 1);
    nereid().load(identity("ones").maxBatchSize(4).build());
    assertEquals(0, scrape().value("nv_inference_request_success", ONES));
    nereid().model("ones").close();
    assertTrue(scrape().family("nv_inference_request_success").samples().isEmpty());
  }

  @Test
  void theProcessTellsOfItself() throws Exception {
    Exposition metrics = scrape();
    double utilization = metrics.value("nv_cpu_utilization");
    assertTrue(utilization >= 0 && utilization <= 1, "utilization " + utilization);
    assertTrue(
        metrics.value("nv_cpu_memory_total_bytes") > metrics.value("nv_cpu_memory_used_bytes"));
    assertTrue(metrics.value("nv_cpu_memory_used_bytes") > 0);
    assertTrue(metrics.value("nv_pinned_memory_pool_total_bytes") > 0);
    assertEquals(0, metrics.value("nv_pinned_memory_pool_used_bytes"));
    assertTrue(metrics.value("jvm_memory_used_bytes", "area", "heap") > 0);
    assertEquals(
        Runtime.getRuntime().maxMemory(), metrics.value("jvm_memory_max_bytes", "area", "heap"));
    assertTrue(metrics.value("jvm_threads_current") > 1);
    assertFalse(metrics.family("jvm_gc_collection_seconds").samples().isEmpty());
    double started = metrics.value("process_start_time_seconds");
    assertTrue(started < System.currentTimeMillis() / 1000.0, "started at " + started);
    double cpuSeconds = metrics.value("process_cpu_seconds_total");
    assertTrue(scrape().value("process_cpu_seconds_total") >= cpuSeconds);
    assertEquals(0, metrics.value("nereid_connections", "protocol", "http"));
    client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + "/v2")).build(),
        BodyHandlers.ofString());
    assertEquals(1, scrape().value("nereid_connections", "protocol", "http"));
  }

  @Test
  void theMachineIsLeftOutWhenItIsNotWanted() throws Exception {
    server.close();
    server =
        NereidServer.start(
            ServerOptions.DEFAULT.withMetrics(MetricsOptions.DEFAULT.withCpuMetrics(false)));
    Exposition metrics = scrape();
    assertFalse(metrics.has("nv_cpu_utilization"));
    assertFalse(metrics.has("nv_cpu_memory_used_bytes"));
    assertTrue(metrics.has("jvm_memory_used_bytes"));
  }

  @Test
  void otherPathsAndVerbsAreRefused() throws Exception {
    HttpResponse<String> other = send("GET", "/");
    assertEquals(404, other.statusCode());
    assertTrue(other.body().contains("/metrics"), other.body());
    HttpResponse<String> post = send("POST", "/metrics");
    assertEquals(405, post.statusCode());
    assertEquals("GET, HEAD", post.headers().firstValue("Allow").orElseThrow());
    HttpResponse<String> head = send("HEAD", "/metrics");
    assertEquals(200, head.statusCode());
    assertEquals("", head.body());
    scrape();
  }

  @Test
  void tooLargeRequestsAreRefused() throws Exception {
    String[] requests = {
      "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nx",
      "GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(100_000) + "\r\n\r\n",
      "GET /" + "x".repeat(100_000) + " HTTP/1.1\r\nHost: a\r\n\r\n"
    };
    for (String request : requests) {
      try (Socket socket =
          new Socket(InetAddress.getLoopbackAddress(), server.metricsPort().orElseThrow())) {
        socket.setSoTimeout(20_000);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        String reply =
            new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertTrue(reply.startsWith("HTTP/1.1 4"), reply);
      } catch (SocketException e) {
        // Closed while there was more to read: the reply did not come through.
      }
    }
    scrape();
  }

  @Test
  void itAnswersWhileInferenceIsStuck() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    BackendInstance stuck =
        batch -> {
          gate.await();
          batch.output("OUT", batch.input("IN"));
        };
    nereid().load(identity("ones").maxBatchSize(0).inline(false).backend(context -> stuck).build());
    int requests = 100; // more than there are threads that could carry them
    HttpRequest infer =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.httpPort() + "/v2/models/ones/infer"))
            .version(HttpClient.Version.HTTP_1_1)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}]}"))
            .build();
    CompletableFuture<?>[] answers = new CompletableFuture<?>[requests];
    for (int i = 0; i < requests; i++) {
      answers[i] = client.sendAsync(infer, BodyHandlers.ofString());
    }
    try {
      Exposition metrics = scrape();
      while (metrics.value("nv_inference_pending_request_count", ONES) < requests - 1) {
        metrics = scrape();
      }
      assertEquals(1, metrics.value("nereid_inference_executing_request_count", ONES));
      assertEquals(requests - 1, metrics.value("nereid_requests_queued"));
      assertEquals(1, metrics.value("nereid_requests_running"));
      assertEquals(requests, metrics.value("nereid_connections", "protocol", "http"));
      assertTrue(metrics.value("nv_pinned_memory_pool_used_bytes") > 0);
    } finally {
      gate.countDown();
    }
    CompletableFuture.allOf(answers).join();
    assertEquals(requests, scrape().value("nv_inference_request_success", ONES));
  }

  private void startAgain(MetricsConfig config) {
    server.close();
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRuntime(
                    NereidOptions.builder().cacheByteLimit(1 << 20).stageHistograms(true).build())
                .withMetrics(MetricsOptions.DEFAULT.withConfig(config)));
  }

  @Test
  void latenciesAreToldInTheFormsThatAreWanted() throws Exception {
    startAgain(new MetricsConfig(false, false, false, List.of()));
    nereid().load(identity("ones").build());
    infer("ones", 1);
    Exposition metrics = scrape();
    assertEquals(1, metrics.value("nv_inference_request_success", ONES));
    assertEquals(1, metrics.value("nv_inference_exec_count", ONES));
    String text = send("GET", "/metrics").body();
    for (String part : new String[] {"_duration_us", "nv_cache", "histogram_ms", "_summary_"}) {
      assertFalse(text.contains(part), part);
    }
    assertEquals(1, metrics.value("nereid_inference_request_duration_seconds_count", ONES));
  }

  @Test
  void quantilesHaveTritonsNames() throws Exception {
    startAgain(new MetricsConfig(true, true, true, List.of(0.5, 0.999)));
    nereid().load(identity("ones").responseCache(true).build());
    String[] half = {"model", "ones", "version", "1", "quantile", "0.5"};
    assertTrue(Double.isNaN(scrape().value("nv_inference_queue_summary_us", half)));
    infer("ones", 1);
    infer("ones", 2);
    infer("ones", 2);
    Exposition metrics = scrape();
    for (String what : new String[] {"compute_input", "compute_infer", "compute_output"}) {
      assertEquals(2, metrics.value("nv_inference_" + what + "_summary_us_count", ONES));
    }
    for (String what : new String[] {"request", "queue", "compute_infer"}) {
      String family = "nv_inference_" + what + "_summary_us";
      assertEquals("summary", metrics.family(family).type());
      double middle = metrics.value(family, half);
      half[5] = "0.999";
      double high = metrics.value(family, half);
      half[5] = "0.5";
      assertTrue(0 <= middle && middle <= high, family + " " + middle + " " + high);
      double sum = metrics.value(family + "_sum", ONES);
      assertEquals(metrics.value("nv_inference_" + what + "_duration_us", ONES), sum);
    }
    assertEquals(3, metrics.value("nv_inference_request_summary_us_count", ONES));
    assertEquals(1, metrics.value("nv_cache_hit_summary_per_model_count", ONES));
    assertEquals(2, metrics.value("nv_cache_miss_summary_per_model_count", ONES));
    assertTrue(metrics.value("nv_cache_miss_summary_per_model", half) > 0);
  }

  @Test
  void namesakesOfDifferentRepositoriesAreToldApart(@TempDir Path directory) throws Exception {
    RepositoryOptions.Builder repositories = RepositoryOptions.builder().namespacing(true);
    for (String repository : List.of("a", "b")) {
      Path model =
          Files.createDirectories(directory.resolve(repository).resolve("m/1")).getParent();
      Files.writeString(
          model.resolve("config.pbtxt"),
          """
          backend: "identity"
          input { name: "IN" data_type: TYPE_FP32 dims: 1 }
          output { name: "OUT" data_type: TYPE_FP32 dims: 1 }
          """);
      repositories.repository(directory.resolve(repository));
    }
    server.close();
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(repositories.build())
                .withMetrics(MetricsOptions.DEFAULT));
    String[] second = {
      "namespace", directory.resolve("b").toString(), "model", "m", "version", "1"
    };
    assertEquals(0, scrape().value("nv_inference_count", second));
  }
}
