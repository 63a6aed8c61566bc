package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Spans as a collector gets them. */
class OtlpTest {

  private static final byte[] BODY =
      ("{\"id\":\"77\",\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\","
              + "\"shape\":[1,2],\"data\":[1,2]}]}")
          .getBytes(StandardCharsets.US_ASCII);

  private static final String INFER = "/v2/models/FP32/infer";
  private static final String TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN_ID = "00f067aa0ba902b7";

  private static Map<String, Object> attributes(List<KeyValue> from) {
    Map<String, Object> attributes = new TreeMap<>();
    for (KeyValue attribute : from) {
      AnyValue value = attribute.getValue();
      Object plain =
          switch (value.getValueCase()) {
            case STRING_VALUE -> value.getStringValue();
            case INT_VALUE -> value.getIntValue();
            case BOOL_VALUE -> value.getBoolValue();
            default -> throw new AssertionError(attribute);
          };
      assertEquals(null, attributes.put(attribute.getKey(), plain), attribute::toString);
    }
    return attributes;
  }

  private static Span named(List<Span> spans, String name) {
    return spans.stream().filter(span -> span.getName().equals(name)).findFirst().orElseThrow();
  }

  private static Span root(List<Span> spans) {
    return spans.stream()
        .filter(span -> span.getKind() == Span.SpanKind.SPAN_KIND_SERVER)
        .findFirst()
        .orElseThrow();
  }

  private static void checkInside(Span span, Span parent) {
    assertEquals(parent.getTraceId(), span.getTraceId());
    assertEquals(parent.getSpanId(), span.getParentSpanId());
    assertNotEquals(parent.getSpanId(), span.getSpanId());
    assertEquals(8, span.getSpanId().size());
    assertTrue(span.getStartTimeUnixNano() >= parent.getStartTimeUnixNano(), span::toString);
    assertTrue(span.getEndTimeUnixNano() >= span.getStartTimeUnixNano(), span::toString);
    assertTrue(span.getEndTimeUnixNano() <= parent.getEndTimeUnixNano(), span::toString);
    assertEquals(Span.SpanKind.SPAN_KIND_INTERNAL, span.getKind());
    assertEquals(0x101, span.getFlags());
  }

  private static long nowNs() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
  }

  @Test
  void aRequestIsASpanWithItsInferenceBelow() throws Exception {
    long clockNs = TimeUnit.MILLISECONDS.toNanos(5); // what two readings of clocks may differ by
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server = TestServer.traced(collector.options()).identity(DataType.FP32);
        RawClient client = server.connect()) {
      long beforeNs = nowNs() - clockNs;
      client.post(INFER + "?x=1", "", BODY).expect(200);
      List<Span> spans = collector.awaitSpans(5);
      assertEquals(5, spans.size()); // it ran inline, and was in no queue
      Span root = root(spans);
      assertEquals("POST /v2/models/{model}/infer", root.getName());
      assertEquals(16, root.getTraceId().size());
      assertTrue(root.getParentSpanId().isEmpty());
      assertEquals(0x101, root.getFlags());
      assertTrue(root.getStartTimeUnixNano() >= beforeNs);
      assertTrue(root.getEndTimeUnixNano() <= nowNs() + clockNs);
      assertEquals(Status.StatusCode.STATUS_CODE_UNSET, root.getStatus().getCode());
      Map<String, Object> said = attributes(root.getAttributesList());
      String local = "127.0.0.1";
      assertEquals((long) client.socket().getLocalPort(), said.remove("client.port"));
      assertEquals(
          Map.of(
              "client.address",
              local,
              "server.address",
              local,
              "server.port",
              (long) server.port(),
              "http.request.method",
              "POST",
              "http.response.status_code",
              200L,
              "http.route",
              "/v2/models/{model}/infer",
              "url.path",
              INFER,
              "url.scheme",
              "http"),
          said);
      Span inference = named(spans, "FP32");
      checkInside(inference, root);
      assertEquals(
          Map.of(
              "triton.model_name",
              "FP32",
              "triton.model_version",
              1L,
              "triton.request_id",
              "77",
              "nereid.batch_size",
              1L,
              "nereid.inline",
              true,
              "nereid.cache_hit",
              false),
          attributes(inference.getAttributesList()));
      long lastNs = inference.getStartTimeUnixNano();
      for (String stage : List.of("compute_input", "compute_infer", "compute_output")) {
        Span span = named(spans, stage);
        checkInside(span, inference);
        assertEquals(lastNs, span.getStartTimeUnixNano());
        lastNs = span.getEndTimeUnixNano();
      }
      Map<String, Object> resource = attributes(collector.resource().getAttributesList());
      assertEquals("tested", resource.get("service.name"));
      assertTrue(resource.containsKey("service.version"));
    }
  }

  @Test
  void requestsOfABatchWaited() throws Exception {
    GateBackend gate = new GateBackend();
    ModelSpec.Builder model =
        ModelSpec.builder("gate")
            .backend(gate)
            .inline(false)
            .maxBatchSize(4)
            .dynamicBatching(DynamicBatching.builder().build())
            .input("IN", DataType.FP32, -1)
            .output("OUT", DataType.FP32, -1);
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server = TestServer.traced(collector.options()).load(model);
        RawClient first = server.connect();
        RawClient second = server.connect();
        RawClient third = server.connect()) {
      byte[] infer = RawClient.request("/v2/models/gate/versions/1/infer", "", BODY);
      first.send(infer);
      gate.awaitBatch();
      second.send(infer);
      third.send(infer);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 2, "nothing waits");
      gate.open(2);
      first.receive().expect(200);
      second.receive().expect(200);
      third.receive().expect(200);
      List<Span> spans = collector.awaitSpans(18);
      assertEquals(3, spans.stream().filter(span -> span.getName().equals("queue")).count());
      assertEquals("POST /v2/models/{model}/versions/{version}/infer", root(spans).getName());
      List<Object> sizes =
          spans.stream()
              .filter(span -> span.getName().equals("gate"))
              .map(span -> attributes(span.getAttributesList()).get("nereid.batch_size"))
              .sorted()
              .toList();
      assertEquals(List.of(1L, 2L, 2L), sizes);
    }
  }

  private static String parent(String flags) {
    return "00-" + TRACE_ID + "-" + SPAN_ID + "-" + flags;
  }

  private static ByteString bytes(String hex) {
    return ByteString.copyFrom(HexFormat.of().parseHex(hex));
  }

  @Test
  void aClientThatTracesMakesItsRequestTraced() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server =
            TestServer.traced(collector.options().withRate(0)).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.post(INFER, "", BODY).expect(200);
      client.post(INFER, "traceparent: " + parent("00") + "\r\n", BODY).expect(200);
      client
          .post(
              INFER,
              "Traceparent: " + parent("01") + "\r\ntracestate: a=1\r\nTraceState: b=2\r\n",
              BODY)
          .expect(200);
      List<Span> spans = collector.awaitSpans(5);
      assertEquals(5, spans.size());
      Span root = root(spans);
      assertEquals(bytes(TRACE_ID), root.getTraceId());
      assertEquals(bytes(SPAN_ID), root.getParentSpanId());
      assertEquals("a=1,b=2", root.getTraceState());
      assertEquals(0x301, root.getFlags());
      checkInside(named(spans, "FP32"), root);
    }
  }

  @Test
  void aClientThatDoesNotTraceIsStillTheParentOfWhatIsSampled() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server = TestServer.traced(collector.options()).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.post(INFER, "traceparent: " + parent("00") + "\r\n", BODY).expect(200);
      assertEquals(bytes(SPAN_ID), root(collector.awaitSpans(5)).getParentSpanId());
    }
  }

  @Test
  void generateRequestsAreTracedByTheirOwnRoute() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server =
            TestServer.traced(collector.options())
                .load(TestServer.identity("FP32", DataType.FP32))
                .load(new StreamBackend().model());
        RawClient client = server.connect()) {
      client.post("/v2/models/FP32/generate", "{\"id\":\"7\",\"IN\":1}").expect(200);
      List<Span> spans = collector.awaitSpans(5);
      assertEquals("POST /v2/models/{model}/generate", root(spans).getName());
      Map<String, Object> said = attributes(root(spans).getAttributesList());
      assertEquals("/v2/models/{model}/generate", said.get("http.route"));
      assertEquals(200L, said.get("http.response.status_code"));
      checkInside(named(spans, "FP32"), root(spans));
      byte[] failing = "{\"COUNT\":2,\"SIZE\":1,\"fail\":true}".getBytes(StandardCharsets.US_ASCII);
      String path = "/v2/models/stream/versions/1/generate_stream";
      client.send(RawClient.request(path, "", failing)).receiveHead().expect(200);
      while (client.chunk() != null) {
        // Two responses, and why there is no third.
      }
      spans = collector.awaitSpans(7);
      Span stream = named(spans, "POST /v2/models/{model}/versions/{version}/generate_stream");
      assertEquals(Status.StatusCode.STATUS_CODE_ERROR, stream.getStatus().getCode());
      assertEquals("it failed after 2", stream.getStatus().getMessage());
      checkInside(named(spans, "stream"), stream);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\ntraceparent: 00-"
            + "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
      })
  void aWrongParentIsNone(String parent) throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server = TestServer.traced(collector.options()).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.post(INFER, "traceparent: " + parent + "\r\n", BODY).expect(200);
      assertTrue(root(collector.awaitSpans(5)).getParentSpanId().isEmpty());
    }
  }

  @Test
  void failuresSayWhoseTheyAre() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server =
            TestServer.traced(collector.options())
                .load(TestServer.identity("FP32", DataType.FP32))
                .load(TestServer.identity("many", DataType.FP32).decoupled(true));
        RawClient client = server.connect()) {
      client.post("/v2/models/none/infer", "", BODY).expect(404);
      Span root = collector.awaitSpans(1).getFirst();
      assertEquals(404L, attributes(root.getAttributesList()).get("http.response.status_code"));
      assertEquals(Status.StatusCode.STATUS_CODE_UNSET, root.getStatus().getCode());
      client.post("/v2/models/many/infer", "", BODY).expect(501);
      root = collector.awaitSpans(2).getLast();
      assertEquals("501", attributes(root.getAttributesList()).get("error.type"));
      assertEquals(Status.StatusCode.STATUS_CODE_ERROR, root.getStatus().getCode());
      assertTrue(root.getStatus().getMessage().contains("decoupled"), root::toString);
    }
  }

  @Test
  void aClientThatWentAwayIsTold() throws Exception {
    GateBackend gate = new GateBackend();
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server = TestServer.traced(collector.options().withRate(0)).gate(gate);
        RawClient running = server.connect();
        RawClient leaving = server.connect()) {
      byte[] infer = RawClient.request("/v2/models/gate/infer", "", BODY);
      running.send(infer);
      gate.awaitBatch();
      String traced = "traceparent: " + parent("01") + "\r\n";
      leaving.send(RawClient.request("/v2/models/gate/infer", traced, BODY));
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      leaving.hangUp();
      Span inference = named(collector.awaitSpans(2), "gate");
      assertEquals("no reply was sent: the client went away", inference.getStatus().getMessage());
      checkInside(inference, root(collector.spans()));
      gate.open(1);
      running.receive().expect(200);
    }
  }

  @Test
  void aCollectorThatIsBusyIsAskedAgain() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server = TestServer.traced(collector.options()).identity(DataType.FP32);
        RawClient client = server.connect()) {
      collector.refuse(503);
      client.post(INFER, "", BODY).expect(200);
      assertEquals(5, collector.awaitSpans(5).size());
      collector.refuse(400); // which trying again would not change
      client.post(INFER, "", BODY).expect(200);
      TestServer.await(() -> server.tracing().droppedCount() == 1, "it is tried again");
      assertEquals(5, collector.spans().size());
    }
  }

  @Test
  void aCollectorThatIsNotThereHoldsUpNobody() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    URI nobody = URI.create("http://127.0.0.1:" + port + "/v1/traces");
    try (TestServer server =
            TestServer.traced(OtlpCollector.options(nobody, Duration.ofMillis(1), 16))
                .identity(DataType.FP32);
        RawClient client = server.connect()) {
      for (int i = 0; i < 200; i++) {
        client.post(INFER, "", BODY).expect(200);
      }
      // 16 wait, as many may be on their way. A trace ends a moment after its request's reply.
      TestServer.await(
          () -> server.tracing().droppedCount() >= 200 - 2 * 16, "traces were not dropped");
      assertTrue(server.tracing().close(TestServer.PATIENCE));
      TestServer.await(() -> server.tracing().droppedCount() == 200, "a trace was not counted");
    }
  }

  @Test
  void aCollectorThatDoesNotAnswerHoldsUpTheEndNoLongerThanAllowed() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      URI url = URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/v1/traces");
      try (TestServer server =
              TestServer.traced(OtlpCollector.options(url, Duration.ofMillis(1), 64))
                  .identity(DataType.FP32);
          RawClient client = server.connect()) {
        client.post(INFER, "", BODY).expect(200);
        client.post(INFER, "", BODY).expect(200); // from here on the first trace waits
        long startNs = System.nanoTime();
        assertFalse(server.tracing().close(Duration.ofMillis(200)));
        long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        assertTrue(tookMs >= 200, "it took " + tookMs + " ms");
        client.post(INFER, "", BODY).expect(200); // without tracing
      }
    }
  }
}
