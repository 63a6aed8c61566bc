package io.nereid.cli;

import io.nereid.client.ModelUsage;
import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code nereid stats}: prints the statistics of a running server's models. */
@Command(
    name = "stats",
    description = "Print what the models of a running server have done since they were loaded.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Times are averages of requests that succeeded.",
      "",
      "Examples:",
      "  nereid stats",
      "  nereid stats digits -u host:8000 --json"
    })
final class StatsCommand extends RemoteCommand {

  @Parameters(arity = "0..1", paramLabel = "MODEL", description = "All by default.")
  private String model;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException {
    List<Activity> models = usage(server, model).stream().map(Activity::of).toList();
    if (json) {
      printJson(out, models.stream().map(Activity::inJson).toList());
      return 0;
    }
    Texts.Table table = Activity.table();
    models.forEach(each -> each.addTo(table));
    table.print(out);
    return 0;
  }

  /** Statistics of one model, or of all models if it is null. */
  static List<ModelUsage> usage(ServerConnection server, String model) {
    return server.ask(
        "expected statistics of " + (model == null ? "all models" : "model '" + model + "'"),
        client -> model == null ? client.statistics() : client.statistics(model));
  }
}
