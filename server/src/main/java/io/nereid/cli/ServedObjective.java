package io.nereid.cli;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/**
 * What a running server tells of a model's objective.
 *
 * @param fields those of the objective among the model's statistics; none: it has no objective
 */
record ServedObjective(String server, Map<String, Object> fields) {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final double NS_OF_A_MS = 1e6;

  /** Asks a server of HTTP, such as {@code http://localhost:8000}. */
  static ServedObjective ask(URI server, String model) {
    String path = "/v2/models/" + URLEncoder.encode(model, StandardCharsets.UTF_8) + "/stats";
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request = HttpRequest.newBuilder(server.resolve(path)).timeout(PATIENCE).build();
      HttpResponse<String> reply = client.send(request, BodyHandlers.ofString());
      if (reply.statusCode() != 200) {
        throw unavailable(server, "status " + reply.statusCode() + ": " + reply.body());
      }
      return new ServedObjective(server.toString(), objective(reply.body()));
    } catch (IOException | IllegalArgumentException e) {
      throw unavailable(server, e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable(server, "an interruption");
    }
  }

  private static NereidException unavailable(URI server, String got) {
    return new NereidException(
        StatusCode.UNAVAILABLE, "expected statistics of the model from " + server + ", got " + got);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> objective(String body) throws IOException {
    Object all = JSON.std.mapFrom(body).get("model_stats");
    boolean there = all instanceof List<?> models && models.getLast() instanceof Map<?, ?>;
    Object objective = there ? ((Map<?, ?>) ((List<?>) all).getLast()).get("objective") : null;
    return objective == null ? Map.of() : (Map<String, Object>) objective;
  }

  /** Comments that follow a configuration. */
  String comments() {
    if (fields.isEmpty()) {
      return "# " + server + ": the model has no objective\n";
    }
    Map<?, ?> refused = (Map<?, ?>) fields.get("refused");
    StringBuilder text = new StringBuilder();
    text.append(
        "# %s: objective %s\n".formatted(server, Texts.printable("" + fields.get("objective"))));
    text.append(
        "#   %s kept, %s late; refused: %s too much waits, %s too long alone, %s while they waited\n"
            .formatted(
                fields.get("kept"),
                fields.get("late"),
                refused.get("backlog"),
                refused.get("cost"),
                refused.get("waiting")));
    text.append(
        "#   now: %s rows at once at most, %s to wait at most, %s to do, %s rows/s in time\n"
            .formatted(
                fields.get("max_rows"),
                ms(fields.get("max_wait_ns")),
                ms(fields.get("backlog_ns")),
                fields.get("rows_per_second")));
    for (Object each : (List<?>) fields.get("costs")) {
      Map<?, ?> cost = (Map<?, ?>) each;
      text.append(
          "#   learned: %s rows take %s, one of a hundred more than %s\n"
              .formatted(cost.get("rows"), ms(cost.get("mean_ns")), ms(cost.get("high_ns"))));
    }
    return text.toString();
  }

  private static String ms(Object ns) {
    return String.format(Locale.ROOT, "%.3g ms", ((Number) ns).doubleValue() / NS_OF_A_MS);
  }
}
