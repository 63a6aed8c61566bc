package io.nereid.client;

import static io.nereid.client.PluginFixture.ints;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/**
 * Plug-ins for Triton, as clients and programs see them: the backends "probe" and "caller" of
 * native/test/triton.
 */
class PluginTest {

  @TempDir private Path directory;
  private PluginFixture plugins;

  @BeforeEach
  void start() throws IOException {
    plugins = new PluginFixture(directory).backend("probe").backend("caller");
    plugins.model("probe", "backend: \"probe\" max_batch_size: 8");
    plugins.model(
        "stream",
        "backend: \"probe\" max_batch_size: 8 model_transaction_policy { decoupled: true }");
    plugins.model(
        "waiting",
        """
        backend: "probe" max_batch_size: 8
        instance_group [
          { name: "passive" kind: KIND_CPU count: 2 passive: true
            secondary_devices { kind: KIND_NVDLA device_id: 1 } },
          { kind: KIND_CPU }
        ]
        """);
    plugins.model("caller", "backend: \"caller\" max_batch_size: 8");
    plugins.model("ours", "backend: \"identity\"");
    plugins.start(plugins.plugins().backend("probe", "colour", "blue"), options -> options);
  }

  @AfterEach
  void stop() {
    plugins.close();
  }

  private InferenceClient connect(String protocol) {
    return plugins.connect(protocol);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void idsAndParametersGoToABackendAndComeBack(String protocol) {
    InferRequest request =
        ints("probe", 4, 5)
            .id("a request")
            .parameter("do", "read")
            .parameter("text", "größer")
            .parameter("number", -7)
            .parameter("truth", true)
            .build();
    try (InferenceClient client = connect(protocol);
        InferResponse response = client.infer(request)) {
      assertArrayEquals(new int[] {4, 5}, response.output("OUTPUT0").toIntArray());
      Map<String, Object> parameters = response.parameters();
      assertEquals("", parameters.get("wrong"), "what the backend found wrong");
      assertEquals("a request", parameters.get("id"));
      assertEquals("größer", parameters.get("got text"));
      assertEquals(-7L, ((Number) parameters.get("got number")).longValue());
      assertEquals(true, parameters.get("got truth"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aBackendsFailureIsTheRequests(String protocol) {
    try (InferenceClient client = connect(protocol)) {
      for (Map.Entry<Long, StatusCode> code :
          Map.of(3L, StatusCode.INVALID_ARGUMENT, 4L, StatusCode.UNAVAILABLE).entrySet()) {
        InferRequest request =
            ints("probe", 1).parameter("do", "fail").parameter("code", code.getKey()).build();
        var failure = assertThrows(InferenceException.class, () -> client.infer(request));
        assertEquals(code.getValue(), failure.code());
        assertTrue(failure.getMessage().contains("it did not want to"), failure.getMessage());
      }
      client.infer(ints("probe", 1).build()).close();
    }
  }

  private static InferRequest asking(String target, int... values) {
    return ints("caller", values).parameter("do", "call").parameter("target", target).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aBackendAsksOtherModels(String protocol) {
    try (InferenceClient client = connect(protocol)) {
      InferRequest known = asking("ours", 1, 2, 3);
      try (InferResponse response = client.infer(known)) {
        assertArrayEquals(new int[] {1, 2, 3}, response.output("OUTPUT0").toIntArray());
      }
      InferRequest unknown = asking("nobody", 1);
      var failure = assertThrows(InferenceException.class, () -> client.infer(unknown));
      assertEquals("the target is not ready", failure.getMessage());
    }
  }

  @Test
  void aBackendReadsTheServersDocuments() throws IOException {
    InferRequest request =
        ints("caller", 1).parameter("do", "describe").parameter("target", "probe").build();
    try (InferenceClient client = connect("http");
        InferResponse response = client.infer(request)) {
      Map<String, Object> documents = response.parameters();
      Map<String, Object> server = json(documents.get("server metadata"));
      assertEquals("nereid", server.get("name"));
      Map<String, Object> metadata = json(documents.get("metadata"));
      assertEquals("probe", metadata.get("name"));
      assertEquals(List.of("1"), metadata.get("versions"));
      assertEquals(
          List.of(Map.of("name", "INPUT0", "datatype", "INT32", "shape", List.of(-1, -1))),
          metadata.get("inputs"));
      assertEquals("probe", json(documents.get("configuration")).get("name"));
      List<?> statistics = (List<?>) json(documents.get("statistics")).get("model_stats");
      assertEquals("probe", ((Map<?, ?>) statistics.getFirst()).get("name"));
      assertEquals(5, ((List<?>) json(documents.get("all")).get("model_stats")).size());
      assertEquals("requested model 'nobody' version 4 is not available", documents.get("no"));
      for (String index : List.of("index", "ready")) {
        List<Object> models = JSON.std.listFrom((String) documents.get(index));
        assertEquals(5, models.size());
        assertEquals(
            Map.of("name", "caller", "version", "1", "state", "READY", "reason", ""),
            models.getFirst());
      }
    }
  }

  private static Map<String, Object> json(Object text) throws IOException {
    return JSON.std.mapFrom((String) text);
  }

  @Test
  void aDecoupledModelAnswersAsOftenAsItLikes() {
    InferRequest request =
        ints("stream", 8, 9).parameter("do", "stream_late").parameter("count", 3).build();
    List<Long> indices = new ArrayList<>();
    try (InferenceClient client = connect("grpc");
        InferStream stream = client.openStream()) {
      stream.send(request);
      while (indices.size() < 3) {
        try (InferResponse response = stream.next()) {
          assertArrayEquals(new int[] {8, 9}, response.output("OUTPUT0").toIntArray());
          indices.add(((Number) response.parameters().get("index")).longValue());
        }
      }
    }
    assertEquals(List.of(0L, 1L, 2L), indices);
  }

  // ---- An error that is one response of several -------------------------------------------------

  private static final String NO_SUCH = "there is no such response";

  @Test
  void anErrorInAStreamIsAMessageAndTheStreamGoesOn() {
    InferRequest request =
        ints("stream", 8, 9)
            .id("mine")
            .parameter("do", "stream_late")
            .parameter("count", 3)
            .parameter("fail_at", 1)
            .build();
    try (InferenceClient client = connect("grpc");
        InferStream stream = client.openStream()) {
      for (int round = 0; round < 2; round++) {
        stream.send(request);
        try (InferResponse first = stream.next()) {
          assertEquals(0, ((Number) first.parameters().get("index")).intValue());
        }
        var failure = assertThrows(InferenceException.class, stream::next);
        assertEquals(NO_SUCH, failure.getMessage());
        assertEquals("mine", failure.requestId().orElseThrow());
        try (InferResponse last = stream.next()) {
          assertEquals(2, ((Number) last.parameters().get("index")).intValue());
          assertArrayEquals(new int[] {8, 9}, last.output("OUTPUT0").toIntArray());
        }
      }
      stream.finish();
      assertNull(stream.next());
    }
  }

  private HttpResponse<String> generate(String how, int failAt, boolean last) throws Exception {
    String body =
        "{\"INPUT0\": [8, 9], \"do\": \"stream\", \"count\": 3, \"fail_at\": "
            + failAt
            + ", \"last\": "
            + last
            + "}";
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri =
          URI.create(
              "http://127.0.0.1:" + plugins.server().httpPort() + "/v2/models/stream/" + how);
      return client.send(
          HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(body)).build(),
          BodyHandlers.ofString());
    }
  }

  /** The status is that of the first response. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void anErrorIsAnEventAndOthersFollow(int failAt) throws Exception {
    HttpResponse<String> reply = generate("generate_stream", failAt, false);
    assertEquals(failAt == 0 ? 404 : 200, reply.statusCode());
    assertTrue(reply.headers().firstValue("content-type").orElse("").startsWith("text/event-"));
    String[] events = reply.body().split("\n\n");
    assertEquals(3, events.length, reply.body());
    for (int i = 0; i < 3; i++) {
      assertTrue(events[i].startsWith("data: "), events[i]);
      Map<String, Object> event = json(events[i].substring("data: ".length()));
      if (i == failAt) {
        assertEquals(Map.of("error", NO_SUCH), event);
      } else {
        assertEquals(List.of(8, 9), event.get("OUTPUT0"));
        assertEquals(i, event.get("index"));
      }
    }
  }

  @Test
  void anErrorIsTheAnswerWhereOneIsExpected() throws Exception {
    HttpResponse<String> reply = generate("generate", 0, false);
    assertEquals(404, reply.statusCode());
    assertEquals(Map.of("error", NO_SUCH), json(reply.body()));
  }

  @Test
  void aProgramThatEmbedsSeesWhichResponseIsAnError() {
    Model model = plugins.server().nereid().model("stream");
    for (boolean last : new boolean[] {false, true}) {
      try (var request =
              model
                  .newRequest()
                  .id("mine")
                  .parameter("do", "stream")
                  .parameter("count", 3)
                  .parameter("fail_at", last ? 2 : 1)
                  .parameter("last", last)
                  .input("INPUT0", io.nereid.tensor.Tensor.ofArray(new int[][] {{8, 9}}));
          var stream = request.inferStream()) {
        for (int i = 0; i < (last ? 2 : 3); i++) {
          try (var response = stream.next()) {
            boolean failed = !last && i == 1;
            assertEquals("mine", response.id().orElseThrow());
            assertEquals(failed, response.failure().isPresent());
            assertEquals((long) i, response.parameters().get("index"), "also of an error");
            assertEquals(failed ? List.of() : List.of("OUTPUT0"), response.outputNames());
            if (failed) {
              var failure = assertThrows(NereidException.class, () -> response.output("OUTPUT0"));
              assertEquals(StatusCode.NOT_FOUND, failure.code());
              assertEquals(NO_SUCH, failure.getMessage());
            }
          }
        }
        if (last) { // then it is the request's
          assertEquals(NO_SUCH, assertThrows(NereidException.class, stream::next).getMessage());
        } else {
          assertNull(stream.next());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void passiveInstancesAreMadeAndGetNoRequests(String protocol) {
    InferRequest request = ints("waiting", 1).parameter("do", "lifecycle").build();
    try (InferenceClient client = connect(protocol)) {
      for (int i = 0; i < 5; i++) {
        try (InferResponse response = client.infer(request)) {
          assertEquals("", response.parameters().get("wrong"));
          assertEquals(2, ((Number) response.parameters().get("passive")).intValue());
        }
      }
    }
  }

  @Test
  void aProgramThatEmbedsHasThemToo() {
    Model probe = plugins.server().nereid().model("probe");
    int[][] values = {{1, 2}, {3, 4}};
    try (var request =
            probe
                .newRequest()
                .parameter("do", "late")
                .input("INPUT0", io.nereid.tensor.Tensor.ofArray(values));
        var response = request.infer()) {
      assertArrayEquals(values, response.output("OUTPUT0").toArray(int[][].class));
      assertEquals("", response.parameters().get("wrong"));
    }
    try (var request =
        probe
            .newRequest()
            .parameter("do", "missing")
            .input("INPUT0", io.nereid.tensor.Tensor.ofArray(values))) {
      NereidException failure = assertThrows(NereidException.class, request::infer);
      assertEquals(StatusCode.INTERNAL, failure.code());
      assertTrue(failure.getMessage().contains("probe"), failure.getMessage());
    }
  }

  @Test
  void metricsOfABackendComeAndGoWithItsModel() {
    assertTrue(plugins.server().nereid().pluginMetrics().contains("model=\"probe\""));
    plugins.server().nereid().repository().unload("probe", false);
    assertFalse(plugins.server().nereid().pluginMetrics().contains("model=\"probe\""));
  }
}
