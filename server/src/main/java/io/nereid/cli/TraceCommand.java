package io.nereid.cli;

import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nereid trace}: shows and changes which requests a running server traces. */
@Command(
    name = "trace",
    description = "Show which requests a running server traces, or change it.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "A setting without a value goes back to what the server was started with.",
      "",
      "Examples:",
      "  nereid trace",
      "  nereid trace level=TIMESTAMPS rate=100",
      "  nereid trace --model digits level=TIMESTAMPS,TENSORS count=10",
      "  nereid trace rate="
    })
final class TraceCommand extends RemoteCommand {

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "The settings of this model; those of the server by default.")
  private String model;

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME=VALUE",
      converter = SettingChange.Converter.class,
      description = "A new value, by Triton's names with or without 'trace_'.")
  private List<SettingChange> changes = List.of();

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException {
    Map<String, List<String>> settings =
        server.ask(
            "expected trace settings of " + server,
            client -> model == null ? client.traceSettings() : client.traceSettings(model));
    if (!changes.isEmpty()) {
      Map<String, List<String>> wanted = new LinkedHashMap<>();
      for (SettingChange change : changes) {
        wanted.put(
            change.fullName("trace_", settings.keySet()),
            change.value().isEmpty() ? List.of() : List.of(change.value().split(",")));
      }
      settings =
          server.ask(
              "expected other trace settings of " + server,
              client ->
                  model == null
                      ? client.changeTraceSettings(wanted)
                      : client.changeTraceSettings(model, wanted));
    }
    if (json) {
      printJson(out, settings);
    } else {
      SettingChange.print(out, settings);
    }
    return 0;
  }
}
