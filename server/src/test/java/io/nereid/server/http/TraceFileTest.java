package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** Traces in Triton's files. */
class TraceFileTest {

  private static final String BODY =
      "{\"id\":\"the \\\"id\\\"\",\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\","
          + "\"shape\":[1,2],\"data\":[1,2]}]}";

  private static final String INFER = "/v2/models/FP32/infer";

  @TempDir Path files;

  /** What a file says of one request. */
  private record Recorded(Map<?, ?> model, Map<String, Long> times) {}

  private TraceOptions options() {
    return TraceOptions.OFF
        .withRate(1)
        .withFile(files.resolve("t.json").toString())
        .withLevels(TraceLevel.TIMESTAMPS);
  }

  /** By id; the file is complete at any time. */
  private static Map<Long, Recorded> read(Path file) throws IOException {
    Map<Long, Recorded> traces = new TreeMap<>();
    for (Object entry : JSON.std.listFrom(Files.readString(file))) {
      Map<?, ?> one = (Map<?, ?>) entry;
      long id = ((Number) one.get("id")).longValue();
      if (one.containsKey("model_name")) {
        assertEquals(null, traces.put(id, new Recorded(one, new LinkedHashMap<>())));
      } else {
        for (Object stamp : (List<?>) one.get("timestamps")) {
          Map<?, ?> time = (Map<?, ?>) stamp;
          traces
              .get(id)
              .times()
              .put((String) time.get("name"), ((Number) time.get("ns")).longValue());
        }
      }
    }
    return traces;
  }

  private static void checkOrder(Recorded trace) {
    long lastNs = 0;
    for (Map.Entry<String, Long> time : trace.times().entrySet()) {
      assertTrue(time.getValue() >= lastNs, trace::toString);
      lastNs = time.getValue();
    }
  }

  private Map<Long, Recorded> close(TestServer server) throws IOException {
    server.close();
    return read(files.resolve("t.json"));
  }

  @Test
  void aRequestHasTheTimesOfItsStages() throws Exception {
    Path file = files.resolve("t.json");
    Files.writeString(file, "of an earlier run, and longer than what comes now".repeat(100));
    try (TestServer server = TestServer.traced(options()).identity(DataType.FP32);
        RawClient client = server.connect()) {
      long beforeNs = System.nanoTime() - 1000; // times of arrival are in whole microseconds
      client.post(INFER, BODY).expect(200);
      TestServer.await(() -> isWritten(file, 1), "nothing is written while the server runs");
      Recorded trace = read(file).get(1L);
      assertEquals(
          Map.of("id", 1, "model_name", "FP32", "model_version", 1, "request_id", "the \"id\""),
          trace.model());
      assertEquals(
          List.of(
              "HTTP_RECV_START",
              "HTTP_RECV_END",
              "REQUEST_START",
              "QUEUE_START",
              "COMPUTE_START",
              "COMPUTE_INPUT_END",
              "COMPUTE_OUTPUT_START",
              "COMPUTE_END",
              "REQUEST_END",
              "HTTP_SEND_START",
              "HTTP_SEND_END"),
          List.copyOf(trace.times().keySet()));
      checkOrder(trace);
      assertTrue(trace.times().get("HTTP_RECV_START") >= beforeNs);
      assertTrue(trace.times().get("HTTP_SEND_END") <= System.nanoTime());
      client.post(INFER, BODY).expect(200);
      TestServer.await(() -> isWritten(file, 2), "the second is not written behind the first");
    }
  }

  private static boolean isWritten(Path file, int traces) {
    try {
      return Files.readString(file).startsWith("[") && read(file).size() == traces;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void timeInTheQueueIsTold() throws Exception {
    GateBackend gate = new GateBackend();
    TestServer server = TestServer.traced(options()).gate(gate);
    try (RawClient running = server.connect();
        RawClient waiting = server.connect()) {
      byte[] infer =
          RawClient.request("/v2/models/gate/infer", "", BODY.getBytes(StandardCharsets.US_ASCII));
      running.send(infer);
      gate.awaitBatch();
      waiting.send(infer);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      long startNs = System.nanoTime();
      TestServer.await(() -> System.nanoTime() - startNs > 20_000_000, "time stands still");
      gate.open(2);
      running.receive().expect(200);
      waiting.receive().expect(200);
    }
    Map<Long, Recorded> traces = close(server);
    checkOrder(traces.get(1L));
    checkOrder(traces.get(2L));
    assertTrue(lasted(traces.get(1L), "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START") > 20_000_000);
    assertTrue(lasted(traces.get(2L), "QUEUE_START", "COMPUTE_START") > 20_000_000);
  }

  private static long lasted(Recorded trace, String from, String to) {
    return trace.times().get(to) - trace.times().get(from);
  }

  @Test
  void oneOfSoManyIsTracedAndNotMoreThanSoMany() throws Exception {
    TestServer server =
        TestServer.traced(options().withRate(7).withCount(20)).identity(DataType.FP32);
    int requests = inferTogether(server, 8, 50);
    try (RawClient client = server.connect()) {
      String text = client.get("/v2/trace/setting").expect(200).text();
      assertTrue(text.contains("\"trace_count\":\"0\""), text);
      client.post("/v2/trace/setting", "{\"trace_count\":\"-1\",\"trace_rate\":\"3\"}").expect(200);
    }
    inferTogether(server, 8, 50);
    assertEquals(20 + requests / 3, close(server).size());
  }

  /** Requests of clients side by side; how many there were. */
  private static int inferTogether(TestServer server, int clients, int each) throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try (RawClient client = server.connect()) {
                  for (int request = 0; request < each; request++) {
                    client.post(INFER, BODY).expect(200);
                  }
                } catch (IOException | AssertionError e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    return clients * each;
  }

  @Test
  void aFileThatIsTakenAwayBeginsAnew() throws Exception {
    Path file = files.resolve("t.json");
    try (TestServer server = TestServer.traced(options()).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.post(INFER, BODY).expect(200);
      TestServer.await(() -> isWritten(file, 1), "nothing is written");
      Files.move(file, files.resolve("t.json.old"));
      client.post(INFER, BODY).expect(200);
      TestServer.await(() -> isWritten(file, 1), "the new file is not JSON");
      assertEquals(List.of(2L), List.copyOf(read(file).keySet()));
    }
  }

  @Test
  void numberedFilesHaveSoManyTraces() throws Exception {
    try (TestServer server =
            TestServer.traced(options().withLogFrequency(4)).identity(DataType.FP32);
        RawClient client = server.connect()) {
      for (int i = 0; i < 10; i++) {
        client.post(INFER, BODY).expect(200);
      }
    }
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Map<Long, Recorded> traces = read(files.resolve("t.json." + i));
      assertEquals(i < 2 ? 4 : 2, traces.size());
      ids.addAll(traces.keySet());
    }
    assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L), ids);
    assertFalse(Files.exists(files.resolve("t.json")));
  }

  @Test
  void aModelCanBeTracedAlone() throws Exception {
    TestServer server =
        TestServer.traced(options().withLevels())
            .identity(DataType.FP32)
            .load(TestServer.identity("other", DataType.FP32));
    try (RawClient client = server.connect()) {
      assertFalse(server.tracing().isOn());
      client
          .post("/v2/models/other/trace/setting", "{\"trace_level\":[\"TIMESTAMPS\"]}")
          .expect(200);
      client.post(INFER, BODY).expect(200);
      client.post("/v2/models/other/infer", BODY).expect(200);
      client.post("/v2/models/other/trace/setting", "{\"trace_level\":null}").expect(200);
      assertFalse(server.tracing().isOn());
      client.post("/v2/models/other/infer", BODY).expect(200);
    }
    Map<Long, Recorded> traces = close(server);
    assertEquals(1, traces.size());
    assertEquals("other", traces.get(1L).model().get("model_name"));
  }

  @Test
  void aRequestThatFailsHasTheStagesThatItReached() throws Exception {
    TestServer server = TestServer.traced(options()).identity(DataType.FP32);
    List<String> unread =
        List.of("HTTP_RECV_START", "HTTP_RECV_END", "HTTP_SEND_START", "HTTP_SEND_END");
    try (RawClient client = server.connect()) {
      client.post("/v2/models/none/infer", BODY).expect(404);
      client.post(INFER, "{").expect(400);
      client.post(INFER, BODY.replace("\"id\":\"the \\\"id\\\"\",", "")).expect(200);
    }
    Map<Long, Recorded> traces = close(server);
    assertEquals("none", traces.get(1L).model().get("model_name"));
    assertEquals(-1, traces.get(1L).model().get("model_version"));
    assertEquals(unread, List.copyOf(traces.get(1L).times().keySet()));
    assertEquals(unread, List.copyOf(traces.get(2L).times().keySet()));
    assertFalse(traces.get(3L).model().containsKey("request_id"));
  }

  @Test
  void aCachedAnswerWasNotExecuted() throws Exception {
    TestServer server =
        TestServer.traced(options())
            .load(TestServer.identity("FP32", DataType.FP32).responseCache(true));
    try (RawClient client = server.connect()) {
      client.post(INFER, BODY).expect(200);
      client.post(INFER, BODY).expect(200);
    }
    Map<Long, Recorded> traces = close(server);
    assertTrue(traces.get(1L).times().containsKey("COMPUTE_END"));
    assertFalse(traces.get(2L).times().containsKey("COMPUTE_END"));
    assertTrue(traces.get(2L).times().containsKey("REQUEST_END"));
  }

  @Test
  void anEnsembleIsTracedAsAWhole() throws Exception {
    RepositoryOptions repository =
        RepositoryOptions.builder()
            .repository(Path.of("..", "examples", "models"))
            .explicit("simple_twice")
            .build();
    TestServer server =
        new TestServer(
            Nereid.open(repository, NereidOptions.DEFAULT),
            HttpLimits.DEFAULT,
            state -> state.tracing(new Tracing(options())));
    String numbers = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
    String input = "\",\"datatype\":\"INT32\",\"shape\":[1,16],\"data\":" + numbers + "}";
    try (RawClient client = server.connect()) {
      client
          .post(
              "/v2/models/simple_twice/infer",
              "{\"inputs\":[{\"name\":\"INPUT0" + input + ",{\"name\":\"INPUT1" + input + "]}")
          .expect(200);
    }
    Map<Long, Recorded> traces = close(server);
    assertEquals(1, traces.size());
    assertEquals("simple_twice", traces.get(1L).model().get("model_name"));
    assertFalse(traces.get(1L).times().containsKey("COMPUTE_START"));
    assertTrue(traces.get(1L).times().containsKey("REQUEST_END"));
  }

  @Test
  void aFileThatCannotBeWrittenHoldsUpNobody() throws Exception {
    TraceOptions options = options().withFile(files.resolve("none/t.json").toString());
    try (TestServer server = TestServer.traced(options).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.post(INFER, BODY).expect(200);
      client.post(INFER, BODY).expect(200);
      TestServer.await(() -> server.tracing().droppedCount() == 2, "nothing is counted as lost");
      assertTrue(server.tracing().close(TestServer.PATIENCE));
    }
  }
}
