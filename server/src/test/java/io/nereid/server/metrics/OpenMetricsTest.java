package io.nereid.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.model.ModelSpec;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.OtlpCollector;
import io.nereid.types.DataType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Metrics as OpenMetrics, for scrapers that ask for it. */
class OpenMetricsTest {

  private static final String OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8";
  private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";
  private static final String TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String DURATION = "nereid_inference_request_duration_seconds";

  /** The field that Prometheus sends. */
  private static final String PROMETHEUS =
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
          + "application/openmetrics-text;version=0.0.1;q=0.4,"
          + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,"
          + "*/*;q=0.1";

  private final HttpClient client = HttpClient.newHttpClient();
  private OtlpCollector collector;
  private NereidServer server;

  @BeforeEach
  void start() throws Exception {
    collector = new OtlpCollector();
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withHttp(HttpOptions.DEFAULT.withPort(0))
                .withTrace(collector.options(Duration.ofMillis(1)))
                .withMetrics(MetricsOptions.DEFAULT));
    server
        .nereid()
        .load(
            ModelSpec.builder("ones")
                .backend("identity")
                .maxBatchSize(8)
                .input("IN", DataType.FP32, 1)
                .output("OUT", DataType.FP32, 1)
                .build());
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
    collector.close();
  }

  private HttpResponse<String> scrape(String accept) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.metricsPort().orElseThrow() + "/metrics");
    return client.send(
        HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(1)).header("Accept", accept).build(),
        BodyHandlers.ofString());
  }

  private void infer() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.httpPort() + "/v2/models/ones/infer"))
            .header("traceparent", "00-" + TRACE_ID + "-00f067aa0ba902b7-01")
            .POST(
                BodyPublishers.ofString(
                    "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],"
                        + "\"data\":[1]}]}"))
            .build();
    assertEquals(200, client.send(request, BodyHandlers.ofString()).statusCode());
    while (collector.spans().isEmpty()) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/openmetrics-text|true",
        "application/openmetrics-text; version=1.0.0|true",
        PROMETHEUS + "|true",
        "application/openmetrics-text; version=0.0.1|false",
        "application/openmetrics-text; q=0|false",
        "application/openmetrics-text; q=0.1, text/plain; q=0.2|false",
        "*/*|false",
        "text/html, */*|false",
        "text/plain|false",
        "@@@|false",
        "*|false",
        "/|false",
        ";|false",
        "text/plain;q=abc|false",
        "text/plain;version=\"|false",
        "application/openmetrics-text, @@@|false"
      })
  void acceptDecides(String accept, boolean open) throws Exception {
    HttpResponse<String> response = scrape(accept);
    assertEquals(200, response.statusCode());
    assertEquals(open ? OPEN : PLAIN, response.headers().firstValue("Content-Type").orElseThrow());
    assertEquals(open, response.body().endsWith("\n# EOF\n"));
  }

  @Test
  void seriesHaveTheSameNamesInBothForms() throws Exception {
    infer();
    Exposition open = Exposition.parseOpen(scrape(PROMETHEUS).body());
    Exposition plain = Exposition.parse(scrape("text/plain").body());
    assertEquals(plain.series(), open.series());
    assertEquals("counter", open.family("nereid_http_requests").type());
    assertEquals("unknown", open.family("nv_inference_request_success").type());
    assertTrue(open.series().size() > 100, open.series().size() + " series");
  }

  @Test
  void bucketsOfLatencyHaveTheTracesOfRequests() throws Exception {
    infer();
    Exposition open = Exposition.parseOpen(scrape(PROMETHEUS).body());
    Map<Exposition.Series, Exposition.Exemplar> exemplars = open.exemplars();
    assertEquals(
        Set.of(DURATION + "_bucket"),
        exemplars.keySet().stream().map(Exposition.Series::name).collect(Collectors.toSet()));
    Exposition.Exemplar exemplar = exemplars.values().iterator().next();
    assertEquals(TRACE_ID, exemplar.traceId());
    assertTrue(exemplar.value() > 0, exemplar.toString());
    double agoSeconds = System.currentTimeMillis() / 1000.0 - exemplar.seconds();
    assertTrue(agoSeconds > -5 && agoSeconds < 3600, exemplar.toString());
    Map<String, String> labels = exemplars.keySet().iterator().next().labels();
    assertEquals("ones", labels.get("model"));
    assertFalse(scrape("text/plain").body().contains(TRACE_ID));
  }

  @Test
  void thePythonLibraryReadsIt(@TempDir Path directory) throws Exception {
    assumeTrue(
        Files.exists(Path.of("/usr/lib/python3/dist-packages/prometheus_client")),
        "no python3-prometheus-client; './dev setup' installs it");
    infer();
    Path text = Files.writeString(directory.resolve("metrics"), scrape(PROMETHEUS).body());
    Process reader =
        new ProcessBuilder(
                "/usr/bin/python3",
                "-c",
                """
                import sys
                from prometheus_client.openmetrics.parser import text_string_to_metric_families
                families = list(text_string_to_metric_families(open(sys.argv[1]).read()))
                print([s.exemplar.labels["trace_id"] for f in families for s in f.samples if s.exemplar])
                """,
                text.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(reader.getInputStream().readAllBytes());
    assertEquals(0, reader.waitFor(), said);
    assertEquals("['" + TRACE_ID + "']\n", said);
  }
}
