package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.server.shared.LoadReport;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.jr.ob.JSON;

/** ORCA load reports in replies. */
class LoadReportTest {

  private static final String ASKED = "endpoint-load-metrics-format";
  private static final String TOLD = "endpoint-load-metrics";

  private static final byte[] BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]}"
          .getBytes(StandardCharsets.US_ASCII);

  private static TestServer server() {
    Nereid nereid = Nereid.create();
    return new TestServer(
            nereid,
            HttpLimits.DEFAULT,
            state -> state.load(Optional.of(new LoadReport(nereid, Duration.ofSeconds(2)))))
        .identity(DataType.FP32)
        .load(new StreamBackend().model());
  }

  private static String infer(RawClient client, String fields) throws IOException {
    return client.post("/v2/models/FP32/infer", fields, BODY).expect(200).fields().get(TOLD);
  }

  @Test
  void aRequestThatAsksIsTold() throws IOException {
    try (TestServer server = server();
        RawClient client = server.connect()) {
      String text = infer(client, "Endpoint-Load-Metrics-Format: text\r\n");
      assertTrue(
          text.matches(
              "TEXT cpu_utilization=[01]\\.\\d{4}, mem_utilization=[01]\\.\\d{4},"
                  + " named_metrics\\.pending_requests=0, named_metrics\\.executing_requests=\\d,"
                  + " named_metrics\\.pool_utilization=[01]\\.\\d{4}"),
          text);
      assertNull(infer(client, ""));
      assertNull(infer(client, ASKED + ": xml\r\n"));
      String json = infer(client, ASKED + ": JSON\r\n");
      assertTrue(json.startsWith("JSON {"), json);
      Map<String, Object> report = JSON.std.mapFrom(json.substring("JSON ".length()));
      assertEquals(0, ((Map<?, ?>) report.get("named_metrics")).get("pending_requests"));
      assertTrue(((Number) report.get("mem_utilization")).doubleValue() > 0, json);
    }
  }

  @Test
  void soAreThoseOfTextAndEventsAndFailures() throws Exception {
    try (TestServer server = server();
        RawClient client = server.connect()) {
      byte[] prompt = "{\"COUNT\":1,\"SIZE\":1}".getBytes(StandardCharsets.US_ASCII);
      for (String path : new String[] {"generate", "generate_stream"}) {
        try (RawClient its = server.connect()) {
          RawClient.Response reply =
              its.post("/v2/models/stream/" + path, ASKED + ": text\r\n", prompt).expect(200);
          assertTrue(reply.fields().get(TOLD).startsWith("TEXT "), reply.fields().toString());
        }
      }
      assertTrue(
          client
              .post("/v2/models/none/infer", ASKED + ": text\r\n", BODY)
              .expect(404)
              .fields()
              .containsKey(TOLD));
      client.send("GET /v2 HTTP/1.1\r\nHost: a\r\n" + ASKED + ": text\r\n\r\n");
      assertNull(client.receive().expect(200).fields().get(TOLD));
    }
  }

  @Test
  void aServerThatTellsNoMetricsTellsNone() throws IOException {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        RawClient client = server.connect()) {
      assertNull(infer(client, ASKED + ": text\r\n"));
    }
  }
}
