package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.cli.RepositoryArguments.ModelArguments;
import io.nereid.model.ModelConfiguration;
import io.nereid.perf.ServerArguments;
import io.nereid.perf.ServerConnection;
import io.nereid.statistics.ResourceStatistics;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.jr.ob.JSON;

/**
 * {@code nereid config}: prints the configuration that a model is served with, in this process or
 * on a server.
 */
@Command(
    name = "config",
    description = {
      "Load a model and print its configuration, and where each value came from;",
      "or print the configuration that a running server has, as JSON, and what the model has",
      "learned there for its objective."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The text that is printed of a model that was loaded is itself a complete config.pbtxt.",
      "",
      "Examples:",
      "  nereid config digits",
      "  nereid config digits -u localhost:8000"
    })
final class ConfigCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Mixin private ModelArguments model;

  @Mixin private ServerArguments server;

  @Option(names = "--json", description = "Print JSON instead of protobuf text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    return server.isGiven() ? printThere() : printHere();
  }

  private int printThere() throws IOException {
    model.checkServed(command);
    try (ServerConnection connection = RemoteCommand.connect(command, server)) {
      String config =
          connection.ask(
              "expected the configuration of model '" + model.name() + "'",
              client -> client.modelConfig(model.name(), model.version()));
      ServedObjective objective = ServedObjective.ask(connection, model.name(), model.version());
      var out = command.commandLine().getOut();
      if (json) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("config", JSON.std.mapFrom(config));
        if (!objective.fields().isEmpty()) {
          all.put("objective", objective.fields());
        }
        RemoteCommand.printJson(out, all);
      } else {
        RemoteCommand.printJson(out, JSON.std.mapFrom(config));
        out.print(objective.comments());
        out.flush();
      }
      return 0;
    }
  }

  /** Prints the configuration after loading the model, which completes it from the file. */
  private int printHere() throws IOException {
    try (Nereid nereid = model.open()) {
      Model found = model.tried(nereid).orElseGet(() -> model.model(nereid));
      print(found, nereid.resourceStatistics());
      found.failure().ifPresent(this::warn);
      return found.failure().isEmpty() ? 0 : 1;
    }
  }

  private void print(Model found, List<ResourceStatistics> resources) throws IOException {
    var out = command.commandLine().getOut();
    if (json) {
      out.println(inJson(found, resources));
    } else {
      out.print(found.configuration().toCommentedText());
      found.notes().forEach(note -> out.println("# " + Texts.printable(note)));
      resources.forEach(resource -> out.print(explain(resource)));
      out.flush();
    }
  }

  /**
   * Explains the resource that the model's instances share under {@code
   * --rate-limit=execution_count}.
   */
  private static String explain(ResourceStatistics resource) {
    String of =
        resource.device().isPresent()
            ? "on device " + resource.device().getAsInt()
            : "for all devices";
    return "# rate limit: executions share %d of resource %s %s, %d free%n"
        .formatted(resource.total(), Texts.printable(resource.name()), of, resource.free());
  }

  private void warn(String reason) {
    command
        .commandLine()
        .getErr()
        .println("nereid: it cannot be served: " + Texts.printable(reason));
  }

  private static String inJson(Model found, List<ResourceStatistics> resources) throws IOException {
    ModelConfiguration configuration = found.configuration();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("config", JSON.std.mapFrom(configuration.toJson()));
    all.put("values", configuration.values().stream().map(ConfigCommand::describe).toList());
    if (!found.notes().isEmpty()) {
      all.put("notes", found.notes());
    }
    if (!resources.isEmpty()) {
      all.put("resources", resources.stream().map(ConfigCommand::describe).toList());
    }
    return JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(all);
  }

  private static Map<String, Object> describe(ResourceStatistics resource) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", resource.name());
    resource.device().ifPresent(device -> entry.put("device", device));
    entry.put("total", resource.total());
    entry.put("free", resource.free());
    return entry;
  }

  private static Map<String, Object> describe(ModelConfiguration.Value value) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("path", value.path());
    entry.put("value", value.text());
    entry.put("origin", value.origin().name().toLowerCase(Locale.ROOT));
    if (!value.place().isEmpty()) {
      entry.put("place", value.place());
    }
    return entry;
  }
}
