package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** The samples that the console keeps while no page is open. */
@Tag("slow")
class HistoryTest {

  private static final String MODEL =
      """
      backend: "identity"
      input { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] }
      """;

  private static final String REQUEST =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1,2]}]}";

  /** Short enough that the server looks every second. */
  private static final Duration KEPT = Duration.ofMinutes(6);

  /** The server is asked so often, ten times a second, before something is taken not to come. */
  private static final int MOST_ASKED = 1200;

  @TempDir Path repository;

  private final HttpClient http = HttpClient.newHttpClient();
  private NereidServer server;

  private Map<String, Object> get(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + path);
    HttpResponse<String> response =
        http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    assertEquals(200, response.statusCode(), response.body());
    return JSON.std.mapFrom(response.body());
  }

  private int post(String path, String body) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + path);
    return http.send(
            HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  /** Waits until the history is as expected, and returns it: the server looks every second. */
  private Map<String, Object> until(String path, Predicate<Map<String, Object>> expected)
      throws Exception {
    Map<String, Object> kept = get(path);
    for (int i = 0; i < MOST_ASKED && !expected.test(kept); i++) {
      Thread.sleep(100);
      kept = get(path);
    }
    assertTrue(expected.test(kept), kept::toString);
    return kept;
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> marks(Map<String, Object> kept) {
    return (List<Map<String, Object>>) kept.get("marks");
  }

  private static boolean has(Map<String, Object> kept, String model, String what) {
    return marks(kept).stream()
        .anyMatch(mark -> mark.get("model").equals(model) && mark.get("what").equals(what));
  }

  private static double most(Map<String, Object> kept, String figure) {
    List<?> values = (List<?>) ((Map<?, ?>) kept.get("history")).get(figure);
    return values.stream()
        .mapToDouble(value -> value == null ? 0 : ((Number) value).doubleValue())
        .max()
        .orElse(0);
  }

  @Test
  void anIncidentIsFoundAfterwards() throws Exception {
    for (String name : List.of("asked", "broken")) {
      Path model = Files.createDirectories(repository.resolve(name));
      Files.createDirectories(model.resolve("1"));
      Files.writeString(model.resolve("config.pbtxt"), name.equals("asked") ? MODEL : "max_batch");
    }
    NereidServer started =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(
                    RepositoryOptions.builder().repository(repository).explicit("*").build())
                .withHttp(
                    HttpOptions.DEFAULT
                        .withPort(0)
                        .withConsole(ConsoleOptions.DEFAULT.withHistory(KEPT)))
                .withExitOnError(false));
    server = started;
    try (started) {
      Map<String, Object> first =
          until(
              "/api/history", kept -> has(kept, "asked", "ready") && has(kept, "broken", "failed"));
      assertEquals("started", marks(first).getFirst().get("what"));
      assertNotNull(
          marks(first).stream()
              .filter(mark -> mark.get("model").equals("broken"))
              .findFirst()
              .orElseThrow()
              .get("reason"));
      for (int i = 0; i < 50; i++) {
        assertEquals(200, post("/v2/models/asked/infer", REQUEST));
      }
      until("/api/history", kept -> most(kept, "requests_per_s") > 0);
      Files.writeString(repository.resolve("asked/config.pbtxt"), MODEL + "max_batch_size: 4\n");
      assertEquals(200, post("/v2/repository/models/asked/load", ""));
      Map<String, Object> after =
          until("/api/models/asked/history", kept -> has(kept, "asked", "loaded again"));
      assertTrue(marks(after).stream().noneMatch(mark -> mark.get("model").equals("broken")));
      assertEquals((int) KEPT.toSeconds(), after.get("kept_s"));
      assertEquals(200, post("/v2/repository/models/asked/unload", ""));
      Map<String, Object> gone = until("/api/history", kept -> has(kept, "asked", "unloaded"));
      assertTrue(most(gone, "requests_per_s") > 0, "what was there before stays");
    }
  }
}
