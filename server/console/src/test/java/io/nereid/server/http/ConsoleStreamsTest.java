package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.console.ConsoleOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** The console's events over sockets. */
class ConsoleStreamsTest {

  private static final byte[] BODY =
      "{\"id\":\"mine\",\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}"
          .getBytes(StandardCharsets.US_ASCII);

  private static TestServer server() {
    return new TestServer(HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT));
  }

  @SuppressWarnings("unchecked") // a test that is wrong about it fails
  private static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }

  private static List<?> list(Object value) {
    return (List<?>) value;
  }

  private record Event(String name, Map<String, Object> data) {

    static Event of(String text) {
      assertTrue(text.endsWith("\n\n"), text);
      String[] lines = text.strip().split("\n");
      assertEquals(2, lines.length, text);
      return new Event(
          lines[0].substring("event: ".length()),
          JSON.std.mapFrom(lines[1].substring("data: ".length())));
    }

    long seq() {
      return ((Number) data.get("seq")).longValue();
    }

    Map<String, Object> model(String name) {
      return list(data.get("models")).stream()
          .map(ConsoleStreamsTest::map)
          .filter(model -> model.get("name").equals(name))
          .findFirst()
          .orElse(null);
    }
  }

  private static RawClient open(TestServer server, String path) throws IOException {
    RawClient client = server.connect();
    client.send("GET /api/" + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    RawClient.Response head = client.receiveHead().expect(200);
    assertEquals("text/event-stream; charset=utf-8", head.fields().get("content-type"));
    assertEquals("no-store", head.fields().get("cache-control"));
    assertEquals("DENY", head.fields().get("x-frame-options"));
    return client;
  }

  private static Event event(RawClient client) throws IOException {
    String chunk = client.chunk();
    for (int i = 0; chunk != null && chunk.equals(":\n\n"); i++) {
      assertTrue(i < 4, "nothing happens any more");
      chunk = client.chunk();
    }
    return chunk == null ? null : Event.of(chunk);
  }

  private static long samplers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("nrd-console"))
        .count();
  }

  @Test
  void theOverviewHasEverythingAndThenWhatChanges() throws IOException {
    try (TestServer server = server().identity(DataType.FP32).identity(DataType.INT32);
        RawClient page = open(server, "overview/events");
        RawClient client = server.connect()) {
      Event first = event(page);
      assertEquals("overview", first.name());
      assertEquals("ready", map(first.data().get("server")).get("state"));
      assertNotNull(map(map(first.data().get("server")).get("pool")).get("limit_bytes"));
      assertTrue((int) map(map(first.data().get("server")).get("connections")).get("http") >= 1);
      Map<String, Object> idle = first.model("FP32");
      assertEquals("FP32/1", idle.get("key"));
      assertEquals("READY", idle.get("state"));
      assertEquals(0, idle.get("requests"));
      assertNotNull(map(idle.get("history")).get("p99_us"));
      for (int i = 0; i < 3; i++) {
        client.post("/v2/models/FP32/infer", "", BODY).expect(200);
      }
      Event next = event(page);
      while (next.model("FP32") == null || !next.model("FP32").get("requests").equals(3)) {
        assertEquals("changes", next.name());
        next = event(page);
      }
      assertTrue(((Number) next.model("FP32").get("p99_us")).doubleValue() > 0);
      assertFalse(next.model("FP32").containsKey("history"));
      assertEquals(null, next.model("INT32"), "it did nothing, and is told all the same");
      server.nereid().model("FP32").unload();
      while (next.model("FP32") == null || !next.model("FP32").get("state").equals("UNLOADED")) {
        next = event(page);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"overview, 1.1", "models/FP32, 1.1", "requests, 1.1", "overview, 1.0"})
  void headGetsNoEvents(String path, String version) throws IOException {
    try (TestServer server = server().identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.send("HEAD /api/" + path + "/events HTTP/" + version + "\r\nHost: a\r\n\r\n");
      RawClient.Response head = client.receiveHead().expect(200);
      assertEquals("text/event-stream; charset=utf-8", head.fields().get("content-type"));
      assertEquals("close", head.fields().get("connection"));
      assertTrue(client.isClosedByServer(), "a body follows");
    }
  }

  @Test
  void aBrokenModelSaysWhyAndWhere(@TempDir Path models) throws IOException {
    Path directory = Files.createDirectories(models.resolve("broken/1")).getParent();
    Files.writeString(
        directory.resolve("config.pbtxt"), "backend: \"identity\"\nmax_bach_size: 4\n");
    Files.createDirectories(models.resolve("other/1"));
    try (TestServer server =
            new TestServer(
                Nereid.open(
                    RepositoryOptions.builder().repository(models).explicit("broken").build()),
                HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT),
                state -> state);
        RawClient page = open(server, "overview/events")) {
      Event first = event(page);
      Map<String, Object> broken = first.model("broken");
      assertEquals("FAILED", broken.get("state"));
      assertTrue(broken.get("reason").toString().contains("max_bach_size"), broken::toString);
      assertEquals("broken/config.pbtxt", map(broken.get("place")).get("file"));
      assertEquals(2, map(broken.get("place")).get("line"));
      assertEquals(null, broken.get("p50_us"));
      assertEquals("UNKNOWN", first.model("other").get("state"));
      assertEquals("not-ready", map(first.data().get("server")).get("state"));
    }
  }

  @Test
  void aModelsPageTellsWhereItsTimeGoes() throws IOException {
    try (TestServer server = server().identity(DataType.FP32);
        RawClient page = open(server, "models/FP32/events");
        RawClient client = server.connect()) {
      Event event = event(page);
      assertEquals("model", event.name());
      assertNotNull(event.data().get("history"));
      client.post("/v2/models/FP32/infer", "", BODY).expect(200);
      while (map(map(event.data().get("latency")).get("total")).get("count").equals(0)) {
        event = event(page);
      }
      Map<String, Object> data = event.data();
      assertFalse(data.containsKey("history"));
      assertEquals(
          1, list(map(data.get("heat")).get("counts")).stream().mapToInt(n -> (int) n).sum());
      assertEquals(
          list(map(data.get("heat")).get("bounds_us")).size() + 1,
          list(map(data.get("heat")).get("counts")).size());
      assertNotNull(map(data.get("time_us")).get("compute_infer"));
      assertEquals(1, map(list(data.get("batches")).getFirst()).get("total"));
      assertEquals(1, map(data.get("batch_ends")).get("single"));
      assertEquals(7, map(data.get("batch_ends")).size());
      assertEquals(null, data.get("sequences"));
      assertEquals(null, data.get("cache"));
      assertTrue(data.containsKey("objective"));
      assertEquals(null, data.get("objective"));
      assertTrue(data.containsKey("isolation"));
      assertEquals(null, data.get("isolation"));
      assertEquals(1, data.get("requests"));
      assertEquals("1", map(list(data.get("versions")).getFirst()).get("version"));
      assertEquals(1, list(data.get("instances")).size());
    }
  }

  @Test
  void aModelsPageTellsOfItsProcess() throws IOException {
    ModelSpec.Builder model = TestServer.identity("FP32", DataType.FP32).isolation("process");
    try (TestServer server = server().load(model);
        RawClient page = open(server, "models/FP32/events")) {
      Map<String, Object> process = map(event(page).data().get("isolation"));
      assertEquals(0, process.get("restarts"));
      assertEquals("", process.get("last_end"));
      assertTrue(number(process, "resident_bytes") > 0);
      ProcessHandle.of((long) number(process, "process")).orElseThrow().destroyForcibly();
      while (!process.get("restarts").equals(1) || !process.get("up").equals(true)) {
        process = map(event(page).data().get("isolation"));
      }
      assertEquals(false, process.get("failed"));
      assertTrue(process.get("last_end").toString().contains("signal 9"), process::toString);
    }
  }

  @Test
  void aModelsPageTellsWhatItsObjectiveHasItDo() throws IOException {
    Objective seconds = Objective.p99(Duration.ofSeconds(30));
    ModelSpec.Builder model = TestServer.identity("FP32", DataType.FP32).objective(seconds);
    try (TestServer server = server().load(model);
        RawClient page = open(server, "models/FP32/events");
        RawClient client = server.connect()) {
      Map<String, Object> objective = map(event(page).data().get("objective"));
      assertEquals("p99 30s", objective.get("objective"));
      assertEquals(0, objective.get("kept"));
      assertEquals(List.of(), objective.get("costs"));
      client.post("/v2/models/FP32/infer", "", BODY).expect(200);
      client.post("/v2/models/FP32/infer", "", BODY).expect(200);
      while (!objective.get("kept").equals(2) || number(objective, "outside_us") == 0) {
        objective = map(event(page).data().get("objective"));
      }
      assertEquals(0, objective.get("late"));
      assertEquals(Map.of("backlog", 0, "cost", 0, "waiting", 0), objective.get("refused"));
      assertEquals(0, objective.get("refused_deadline"));
      for (String name : List.of("kept_per_s", "late_per_s", "refused_per_s", "backlog_us")) {
        assertTrue(objective.get(name) instanceof Number, objective::toString);
      }
      assertTrue(number(objective, "max_rows") >= 1, objective::toString);
      assertTrue(number(objective, "rows_per_s") > 0, objective::toString);
      Object cost = list(objective.get("costs")).getFirst();
      assertEquals(1, map(cost).get("rows"));
      assertTrue(number(cost, "high_us") >= number(cost, "mean_us"), cost::toString);
    }
  }

  @Test
  void slowRequestsAreToldWithTheirPhases() throws IOException {
    try (TestServer server = server().identity(DataType.FP32);
        RawClient page = open(server, "requests/events");
        RawClient client = server.connect()) {
      assertEquals(List.of(), event(page).data().get("requests"));
      client.post("/v2/models/FP32/infer", "", BODY).expect(200);
      client.post("/v2/models/FP32/infer", "", new byte[] {'{'}).expect(400);
      Event event = event(page);
      while (list(event.data().get("requests")).size() < 2) {
        event = event(page);
      }
      List<Map<String, Object>> requests =
          list(event.data().get("requests")).stream().map(ConsoleStreamsTest::map).toList();
      Map<String, Object> good =
          requests.stream().filter(one -> one.get("error") == null).findFirst().orElseThrow();
      assertEquals("mine", good.get("request_id"));
      assertEquals("HTTP", good.get("protocol"));
      assertEquals("1", good.get("version"));
      assertEquals(1, map(good.get("batch")).get("size"));
      List<?> phases = list(good.get("phases"));
      double end = 0;
      for (Object phase : phases) {
        assertEquals(end, number(phase, "start_us"), 0.2, phases::toString);
        end = number(phase, "start_us") + number(phase, "duration_us");
      }
      assertEquals(number(good, "duration_us"), end, 0.3);
      List<Object> names = new ArrayList<>();
      phases.forEach(phase -> names.add(map(phase).get("name")));
      assertTrue(names.containsAll(List.of("parse", "compute", "write")), names::toString);
      assertEquals(1, requests.stream().filter(one -> one.get("error") != null).count());
      assertEquals(2, event.data().get("seen"));
    }
  }

  private static double number(Object of, String name) {
    return ((Number) map(of).get(name)).doubleValue();
  }

  @Test
  void aHundredPagesAreLookedAtForOnce() throws IOException {
    try (TestServer server = server().identity(DataType.FP32)) {
      assertEquals(0, samplers());
      assertFalse(server.tracing().isOn());
      List<RawClient> pages = new ArrayList<>();
      try {
        for (int i = 0; i < 100; i++) {
          pages.add(open(server, "overview/events"));
        }
        List<Event> events = new ArrayList<>();
        for (RawClient page : pages) {
          Event event = event(page);
          while (!map(event.data().get("server")).get("viewers").equals(100)) {
            event = event(page);
          }
          events.add(event);
        }
        // They all were told of the same few looks, of which there is one thread.
        assertEquals(1, samplers());
        long looks = events.stream().mapToLong(Event::seq).max().getAsLong();
        assertTrue(events.stream().map(Event::data).distinct().count() <= 2 * looks);
        assertTrue(server.tracing().isOn());
      } finally {
        for (RawClient page : pages) {
          page.close();
        }
      }
      TestServer.await(() -> samplers() == 0, "it still looks, and nobody wants to know");
      assertFalse(server.tracing().isOn());
    }
  }

  @Test
  void streamsEndWhenTheServerStops() throws IOException {
    TestServer server = server().identity(DataType.FP32);
    try (RawClient page = open(server, "overview/events");
        RawClient other = open(server, "requests/events")) {
      event(page);
      event(other);
      assertTrue(server.http().stop(Duration.ofSeconds(30)), "streams held it up");
      Event last = event(page);
      while (!last.name().equals("end")) {
        last = event(page);
      }
      assertEquals("the server stops", last.data().get("reason"));
      assertEquals(null, page.chunk());
    } finally {
      server.close();
    }
    TestServer.await(() -> samplers() == 0, "it still looks");
  }

  @Test
  void clientsThatReadNothingHoldNothingUp() throws IOException {
    try (TestServer server = server();
        RawClient idle = open(server, "overview/events");
        RawClient page = open(server, "overview/events")) {
      event(idle);
      Event first = event(page);
      Event later = event(page);
      while (later.seq() < first.seq() + 3) {
        later = event(page);
      }
      assertEquals("changes", event(idle).name());
    }
  }

  @Test
  void theLimitOfConnectionsHolds() throws IOException {
    HttpLimits few =
        new HttpLimits(1 << 20, 16 << 10, 100, 20, 2, Duration.ofMinutes(1), Duration.ofMinutes(1));
    HttpOptions options = HttpOptions.DEFAULT.withLimits(few).withConsole(ConsoleOptions.DEFAULT);
    try (TestServer server = new TestServer(options);
        RawClient one = open(server, "overview/events");
        RawClient two = open(server, "overview/events");
        RawClient three = server.connect()) {
      event(one);
      event(two);
      three.get("/v2").expect(503);
    }
  }
}
