package io.nereid.cli;

import io.nereid.client.ModelUsage;
import io.nereid.perf.ServerConnection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A model's objective, from a running server's statistics.
 *
 * @param fields the objective's fields in the model's statistics; empty: no objective
 */
record ServedObjective(String server, Map<String, Object> fields) {

  private static final double NS_OF_A_MS = 1e6;

  /** Asks for the given version, or the highest; over HTTP only. */
  @SuppressWarnings("unchecked") // JSON has no other keys
  static ServedObjective ask(ServerConnection server, String model, String version) {
    List<ModelUsage> versions =
        server
            .askIfServed(
                "expected statistics of model '" + model + "'",
                client ->
                    version.isEmpty()
                        ? client.statistics(model)
                        : List.of(client.statistics(model, version)))
            .orElse(List.of());
    Object objective = versions.isEmpty() ? null : versions.getLast().extensions().get("objective");
    return new ServedObjective(
        server.toString(), objective == null ? Map.of() : (Map<String, Object>) objective);
  }

  /** The comments behind a configuration; empty without an objective. */
  String comments() {
    if (fields.isEmpty()) {
      return "";
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
    text.append(
        "#   kept free for what requests spend outside the model: %s\n"
            .formatted(ms(fields.get("outside_ns"))));
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
