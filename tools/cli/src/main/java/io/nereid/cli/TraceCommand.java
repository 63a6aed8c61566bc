package io.nereid.cli;

import io.nereid.client.InferenceClient;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code nereid trace}: shows and changes the tracing settings of a running server. */
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
final class TraceCommand extends SettingsCommand<List<String>> {

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "The settings of this model; those of the server by default.")
  private String model;

  TraceCommand() {
    super("trace_", "trace settings");
  }

  @Override
  Map<String, List<String>> settings(InferenceClient client) {
    return model == null ? client.traceSettings() : client.traceSettings(model);
  }

  @Override
  Map<String, List<String>> change(InferenceClient client, Map<String, List<String>> wanted) {
    return model == null
        ? client.changeTraceSettings(wanted)
        : client.changeTraceSettings(model, wanted);
  }

  @Override
  List<String> value(String name, List<String> now, String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(","));
  }
}
