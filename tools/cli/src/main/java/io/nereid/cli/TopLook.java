package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.client.ModelUsage;
import io.nereid.perf.ServerConnection;
import io.nereid.server.metrics.Scrape;
import io.nereid.server.metrics.Troubles;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A server's figures at one moment.
 *
 * @param ns the moment, by the clock of System.nanoTime
 * @param models the statistics of the models that serve, by {@link #key}
 * @param failed the versions that could not be loaded, with the reasons
 * @param metrics its metrics; empty: not available
 * @param troubles the troubles since its start, from the metrics
 */
record TopLook(
    long ns,
    Map<String, ModelUsage> models,
    List<String> failed,
    Optional<Scrape> metrics,
    Troubles troubles) {

  static TopLook at(ServerConnection server, MetricsSource metrics) throws InterruptedException {
    Map<String, ModelUsage> models = new HashMap<>();
    StatsCommand.usage(server, null).forEach(model -> models.put(key(model), model));
    Optional<Scrape> scrape = metrics.ask();
    return new TopLook(
        System.nanoTime(),
        models,
        notLoaded(server),
        scrape,
        scrape.map(Troubles::of).orElse(new Troubles(Map.of())));
  }

  static String key(ModelUsage model) {
    return model.name() + '\n' + model.version();
  }

  /** The versions that could not be loaded, with the reasons, if the server has an index. */
  private static List<String> notLoaded(ServerConnection server) {
    return server
        .askIfServed("expected the models of " + server, InferenceClient::repositoryIndex)
        .orElse(List.of())
        .stream()
        .filter(model -> model.state().equals("UNAVAILABLE") && !model.reason().equals("unloaded"))
        .map(model -> model.name() + " " + model.version() + ": " + model.reason())
        .sorted()
        .toList();
  }
}
