package io.nereid.client;

import static io.nereid.client.PluginFixture.ints;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.TracedActivity;
import io.nereid.server.http.OtlpCollector;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceOptions;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/** Traces of requests that plug-ins execute: what they tell, and what they ask other models. */
class PluginTraceTest {

  private static final List<String> INFERENCE =
      List.of(
          "REQUEST_START",
          "QUEUE_START",
          "COMPUTE_START",
          "COMPUTE_INPUT_END",
          "COMPUTE_OUTPUT_START",
          "COMPUTE_END",
          "REQUEST_END");

  @TempDir private Path directory;

  private PluginFixture start(TraceOptions trace) throws IOException {
    PluginFixture plugins = new PluginFixture(directory).backend("probe").backend("caller");
    plugins.model("probe", "backend: \"probe\" max_batch_size: 8");
    plugins.model("caller", "backend: \"caller\" max_batch_size: 8");
    plugins.model("ours", "backend: \"identity\"");
    return plugins.start(plugins.plugins(), options -> options.withTrace(trace));
  }

  private static InferRequest asking() {
    return ints("caller", 5, 6).parameter("do", "trace").parameter("target", "ours").build();
  }

  private static InferRequest telling() {
    return ints("probe", 1).parameter("do", "trace").parameter("traced", 1).build();
  }

  private static List<Map<?, ?>> of(List<Object> entries, String member, Object id) {
    List<Map<?, ?>> found = new ArrayList<>();
    for (Object entry : entries) {
      Map<?, ?> one = (Map<?, ?>) entry;
      if (one.containsKey(member) && id.equals(one.get("id"))) {
        found.add(one);
      }
    }
    return found;
  }

  private static List<Object> names(List<Object> entries, Object id) {
    List<Object> names = new ArrayList<>();
    for (Map<?, ?> entry : of(entries, "timestamps", id)) {
      names.add(((Map<?, ?>) ((List<?>) entry.get("timestamps")).getFirst()).get("name"));
    }
    return names;
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aFileHasWhatABackendTellsAndAsks(String protocol) throws IOException {
    Path file = directory.resolve("trace.json");
    TraceOptions options =
        TraceOptions.OFF
            .withRate(1)
            .withFile(file.toString())
            .withLevels(TraceLevel.TIMESTAMPS, TraceLevel.TENSORS);
    try (PluginFixture plugins = start(options);
        InferenceClient client = plugins.connect(protocol)) {
      client.infer(telling()).close();
      client.infer(asking()).close();
    }
    List<Object> entries = JSON.std.listFrom(Files.readString(file));
    assertTrue(names(entries, 1).contains("PROBED"), entries.toString());
    assertEquals("caller", of(entries, "model_name", 2).getFirst().get("model_name"));
    assertEquals(
        Map.of("id", 3, "model_name", "ours", "model_version", 1, "parent_id", 2),
        of(entries, "model_name", 3).getFirst());
    assertEquals(INFERENCE, names(entries, 3));
    List<Map<?, ?>> tensors = of(entries, "tensor", 3);
    assertEquals("TENSOR_QUEUE_INPUT", tensors.get(0).get("activity"));
    assertEquals(
        Map.of("name", "INPUT0", "data", "5,6", "shape", "2", "dtype", "INT32"),
        tensors.get(0).get("tensor"));
    assertEquals("TENSOR_BACKEND_OUTPUT", tensors.get(1).get("activity"));
  }

  @Test
  void aCollectorGetsSpansOfThem() throws IOException {
    List<Span> spans;
    try (OtlpCollector collector = new OtlpCollector()) {
      try (PluginFixture plugins = start(collector.options(Duration.ofMillis(1)));
          InferenceClient client = plugins.connect("http")) {
        client.infer(telling()).close();
        client.infer(asking()).close();
      }
      spans = collector.spans();
    }
    Span probe = named(spans, "probe");
    assertEquals(
        List.of("PROBED"), probe.getEventsList().stream().map(Span.Event::getName).toList());
    Span caller = named(spans, "caller");
    Span asked = named(spans, "ours");
    assertEquals(caller.getSpanId(), asked.getParentSpanId());
    assertEquals(caller.getTraceId(), asked.getTraceId());
    assertNotEquals(caller.getSpanId(), asked.getSpanId());
    assertEquals(INFERENCE, asked.getEventsList().stream().map(Span.Event::getName).toList());
    Span compute =
        spans.stream()
            .filter(span -> span.getParentSpanId().equals(asked.getSpanId()))
            .findFirst()
            .orElseThrow();
    assertEquals("compute", compute.getName());
    assertTrue(compute.getStartTimeUnixNano() >= asked.getStartTimeUnixNano());
    assertTrue(compute.getEndTimeUnixNano() <= asked.getEndTimeUnixNano());
  }

  private static Span named(List<Span> spans, String name) {
    return spans.stream().filter(span -> span.getName().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void aProgramThatEmbedsListensToo() throws IOException {
    List<TracedActivity> told = Collections.synchronizedList(new ArrayList<>());
    int[][] values = {{7, 8}};
    try (PluginFixture plugins = start(TraceOptions.OFF)) {
      try (var request =
              plugins
                  .server()
                  .nereid()
                  .model("caller")
                  .newRequest()
                  .parameter("do", "trace")
                  .parameter("target", "ours")
                  .trace(told::add)
                  .input("INPUT0", io.nereid.tensor.Tensor.ofArray(values));
          var response = request.infer()) {
        assertEquals(1, response.parameters().size());
      }
      TracedActivity.Content input =
          told.stream().flatMap(one -> one.tensor().stream()).findFirst().orElseThrow();
      assertEquals("INPUT0", input.name());
      assertThrows(IllegalStateException.class, () -> input.tensor().segment());
    }
    assertTrue(told.stream().allMatch(one -> one.model().equals("ours") && one.parent() == 0));
    assertEquals(
        INFERENCE,
        told.stream().filter(one -> one.tensor().isEmpty()).map(TracedActivity::name).toList());
  }
}
