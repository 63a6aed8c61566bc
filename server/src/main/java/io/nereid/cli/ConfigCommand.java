package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.cli.RepositoryArguments.ModelArguments;
import io.nereid.model.ModelConfiguration;
import io.nereid.statistics.ResourceStatistics;
import java.io.IOException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.jr.ob.JSON;

/** {@code nereid config}: prints the configuration that a model is served with. */
@Command(
    name = "config",
    description = "Load a model and print its configuration, and where each value came from.",
    mixinStandardHelpOptions = true,
    footer = {"", "The text that is printed is itself a complete config.pbtxt."})
final class ConfigCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Mixin private ModelArguments model;

  @Option(names = "--json", description = "Print JSON instead of protobuf text.")
  private boolean json;

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "A server that serves the model, such as http://localhost:8000: tells what the model has"
              + " learned there for its objective, and what it does now.")
  private URI url;

  /**
   * Prints the configuration of the model as it is served: only loading it shows what its file
   * tells.
   */
  @Override
  public Integer call() throws IOException {
    try (Nereid nereid = model.open()) {
      Model found = model.tried(nereid).orElseGet(() -> model.model(nereid));
      Optional<ServedObjective> served =
          Optional.ofNullable(url).map(server -> ServedObjective.ask(server, found.name()));
      print(found.configuration(), nereid.resourceStatistics(), served);
      found.failure().ifPresent(this::warn);
      return found.failure().isEmpty() ? 0 : 1;
    }
  }

  private void print(
      ModelConfiguration configuration,
      List<ResourceStatistics> resources,
      Optional<ServedObjective> served)
      throws IOException {
    var out = command.commandLine().getOut();
    if (json) {
      out.println(inJson(configuration, resources, served));
    } else {
      out.print(configuration.toCommentedText());
      resources.forEach(resource -> out.print(explain(resource)));
      served.ifPresent(objective -> out.print(objective.comments()));
      out.flush();
    }
  }

  /** What the model's instances share under {@code --rate-limit=execution_count}. */
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

  private static String inJson(
      ModelConfiguration configuration,
      List<ResourceStatistics> resources,
      Optional<ServedObjective> served)
      throws IOException {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("config", JSON.std.mapFrom(configuration.toJson()));
    all.put("values", configuration.values().stream().map(ConfigCommand::describe).toList());
    if (!resources.isEmpty()) {
      all.put("resources", resources.stream().map(ConfigCommand::describe).toList());
    }
    served.ifPresent(objective -> all.put("objective", objective.fields()));
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
