package io.nereid.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes the options of a command into its help, under a heading for each of its mixins. */
final class GroupedHelp {

  /** Headings of the mixins; an unlisted mixin's name is its heading. */
  private static final Map<String, String> HEADINGS =
      Map.ofEntries(
          Map.entry("Control", "Models"),
          Map.entry("Runtime", "Memory and response cache"),
          Map.entry("Plugin", "Plug-ins"),
          Map.entry("TensorRt", "GPUs"),
          Map.entry("Http", "HTTP"),
          Map.entry("Console", "Console"),
          Map.entry("Grpc", "gRPC"),
          Map.entry("Metrics", "Metrics"),
          Map.entry("Log", "Logging"),
          Map.entry("Trace", "Tracing"),
          Map.entry("Record", "Recording"),
          Map.entry("Shadow", "Shadows"),
          Map.entry("Tls", "TLS"),
          Map.entry("Access", "Access"));

  private static final String OWN = "Start and stop";

  /** The options of picocli, or of every command. */
  private static final List<String> EVERYWHERE = List.of("--help", "--version", "--stacktrace");

  private GroupedHelp() {}

  /** The options as a section of picocli's help. */
  static String options(Help help) {
    CommandSpec command = help.commandSpec();
    List<OptionSpec> shown = command.options().stream().filter(option -> !option.hidden()).toList();
    StringBuilder text = new StringBuilder();
    groups(command, shown)
        .forEach((heading, options) ->
            text.append(System.lineSeparator()).append(section(help, shown, heading, options)));
    return text.toString();
  }

  private static String section(
      Help help, List<OptionSpec> shown, String heading, List<OptionSpec> options) {
    Help.Layout layout = help.createDefaultLayout(shown, List.of(), help.colorScheme());
    layout.addOptions(options, help.parameterLabelRenderer());
    return help.colorScheme().optionText(heading + ":") + System.lineSeparator() + layout;
  }

  /** The given options of a command by heading. */
  static Map<String, List<OptionSpec>> groups(CommandSpec command, List<OptionSpec> shown) {
    Map<String, List<OptionSpec>> groups = new LinkedHashMap<>();
    List<OptionSpec> left = new ArrayList<>(shown);
    List<OptionSpec> general = take(left, EVERYWHERE);
    command
        .mixins()
        .forEach((name, mixin) -> {
          List<String> flags = mixin.options().stream().map(OptionSpec::longestName).toList();
          List<OptionSpec> options = take(left, flags);
          if (!options.isEmpty()) {
            groups.computeIfAbsent(heading(mixin), key -> new ArrayList<>()).addAll(options);
          }
        });
    if (!left.isEmpty()) {
      groups.put(OWN, left);
    }
    groups.put("General", general);
    return groups;
  }

  /** The options under one heading of a command's help, by its name in {@link #topics}. */
  static Optional<String> topic(CommandLine command, String topic) {
    Help help = command.getHelp();
    CommandSpec spec = command.getCommandSpec();
    List<OptionSpec> shown = spec.options().stream().filter(option -> !option.hidden()).toList();
    return groups(spec, shown).entrySet().stream()
        .filter(group -> topic(group.getKey()).equals(topic.toLowerCase(Locale.ROOT)))
        .map(group -> section(help, shown, group.getKey(), group.getValue()))
        .findFirst();
  }

  /** The topics that help can show separately. */
  static List<String> topics(CommandSpec command) {
    List<OptionSpec> shown = command.options().stream().filter(option -> !option.hidden()).toList();
    return groups(command, shown).keySet().stream().map(GroupedHelp::topic).toList();
  }

  /** Returns the topic of a heading: its first word. */
  private static String topic(String heading) {
    return heading.split(" ")[0].toLowerCase(Locale.ROOT);
  }

  private static String heading(CommandSpec mixin) {
    Class<?> type = mixin.userObject().getClass();
    String name = type.getSimpleName().replaceFirst("Arguments$", "");
    return HEADINGS.getOrDefault(name, name);
  }

  /** Moves the options with these flags out of a list. */
  private static List<OptionSpec> take(List<OptionSpec> left, List<String> flags) {
    List<OptionSpec> taken =
        left.stream().filter(option -> flags.contains(option.longestName())).toList();
    left.removeAll(taken);
    return taken;
  }
}
