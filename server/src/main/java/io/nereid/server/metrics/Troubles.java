package io.nereid.server.metrics;

import io.nereid.Model;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Counts of everything that went wrong in a server since its start, from the metrics of this
 * process or of another one.
 *
 * @param counts by words such as {@code HTTP 400}
 */
public record Troubles(Map<String, Long> counts) {

  private static final String HTTP = "HTTP ";
  private static final String GRPC = "gRPC ";
  private static final String CONNECTION = "connection: ";
  private static final String IDLE_SEQUENCES = "sequence without requests";
  private static final String LOST_PROCESSES = "process of a model lost";

  /** The troubles of a server of this process. */
  public static Troubles of(ServerState state) {
    MetricsText text = new MetricsText(false);
    ServerMetrics.write(state, text);
    Troubles troubles = of(Scrape.parse(text.toString()));
    for (Model model : state.nereid().models()) {
      try {
        model
            .isolationStatistics()
            .ifPresent(isolated -> troubles.add(LOST_PROCESSES, isolated.restarts()));
        if (model.isReady() && model.spec().sequenceBatching().isPresent()) {
          model
              .statistics()
              .sequences()
              .ifPresent(sequences -> troubles.add(IDLE_SEQUENCES, sequences.idleEnded()));
        }
      } catch (NereidException | IllegalStateException e) {
        // The model was unloaded meanwhile, and has no figures any more.
      }
    }
    return troubles;
  }

  /** The troubles of the server with these metrics. */
  public static Troubles of(Scrape metrics) {
    Troubles troubles = new Troubles(new TreeMap<>());
    troubles.add(
        metrics,
        "nereid_http_requests_total",
        answer -> isFailure(answer.label("status")) && !isHealth(answer.label("route")),
        answer -> HTTP + answer.label("status"));
    troubles.add(
        metrics,
        "nereid_grpc_requests_total",
        call -> !call.label("code").equals("OK") && !isHealth(call.label("method")),
        call -> GRPC + call.label("code"));
    troubles.add(
        metrics,
        "nereid_connection_failures_total",
        connection -> true,
        connection ->
            protocol(connection.label("protocol")) + CONNECTION + connection.label("reason"));
    troubles.add(
        metrics,
        "nereid_model_load_failures_total",
        load -> true,
        load -> "load: " + load.label("reason"));
    troubles.add(metrics, "nereid_pool_failures_total", "no memory for a tensor");
    troubles.add(metrics, "nereid_sequences_idle_ended_total", IDLE_SEQUENCES);
    troubles.add(metrics, "nereid_isolation_restarts_total", LOST_PROCESSES);
    troubles.add(metrics, "nereid_recording_dropped_total", "request not recorded");
    troubles.add(metrics, "nereid_access_log_dropped_total", "line of the access log lost");
    troubles.add(metrics, "nereid_traces_dropped_total", "trace lost");
    return troubles;
  }

  private static boolean isFailure(String status) {
    return status.startsWith("4") || status.startsWith("5");
  }

  /** True for a health endpoint, whose refusals of probes do not count as troubles. */
  private static boolean isHealth(String place) {
    return place.startsWith("/v2/health/") || place.startsWith("grpc.health.");
  }

  private static String protocol(String label) {
    return switch (label) {
      case "http" -> HTTP;
      case "grpc" -> GRPC;
      default -> label + " ";
    };
  }

  private void add(Scrape metrics, String name, String words) {
    add(metrics, name, sample -> true, sample -> words);
  }

  private void add(
      Scrape metrics,
      String name,
      Predicate<Scrape.Sample> counts,
      Function<Scrape.Sample, String> words) {
    metrics.samples(name).stream()
        .filter(counts)
        .forEach(sample -> add(words.apply(sample), (long) sample.value()));
  }

  private void add(String words, long count) {
    if (count > 0) {
      counts.merge(words, count, Long::sum);
    }
  }

  /** The troubles since an earlier moment. */
  public Troubles since(Troubles earlier) {
    Troubles troubles = new Troubles(new TreeMap<>());
    counts.forEach(
        (words, count) -> troubles.add(words, count - earlier.counts.getOrDefault(words, 0L)));
    return troubles;
  }

  /** True if the words mean the answer to a request, not an event beside requests. */
  public static boolean isAnswer(String words) {
    return (words.startsWith(HTTP) || words.startsWith(GRPC)) && !words.contains(CONNECTION);
  }

  /** The number of requests that were refused, or failed. */
  public long answers() {
    return counts.entrySet().stream()
        .filter(each -> isAnswer(each.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /** All troubles in a line, the most frequent first: {@code 31 × HTTP 400, 2 × HTTP 404}. */
  public String line() {
    return counts.entrySet().stream()
        .sorted(
            Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .map(each -> each.getValue() + " × " + each.getKey())
        .collect(Collectors.joining(", "));
  }
}
