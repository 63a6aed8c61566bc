package io.nereid.cli;

import io.nereid.cli.SettingsFile.SettingsException;
import io.nereid.types.Names;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionStrategy;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Fills in the options that the command line leaves out, for each command that has {@code
 * --config}: from the environment, and then from the file. The settings found there become
 * arguments, and the command line is parsed again with them. So types, checks and messages are
 * those of the flags, and an option needs nothing but its flag to be set from everywhere.
 */
final class Settings implements IExecutionStrategy {

  /**
   * The separator of a repeatable option's values in a variable; paths and lists contain , : and =.
   */
  static final String VARIABLE_SEPARATOR = ";";

  private static final String PREFIX = "NEREID_";

  /** The variables that Kubernetes sets in every container for a service called "nereid...". */
  private static final Pattern SERVICE_LINK =
      Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");

  private static final Pattern SERVICE_ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");

  private static final String CONFIG = "config";
  private static final Pattern FLAG = Pattern.compile("--[a-z][a-z0-9-]*");

  /** The variables of the environment that may be options. */
  private final Map<String, String> variables = new TreeMap<>();

  /** The values from the environment or the file, by their flags. */
  private final Map<String, List<SettingsFile.Value>> taken = new LinkedHashMap<>();

  private final IExecutionStrategy next;

  /**
   * Uses an environment.
   *
   * @param next runs the final parse result
   */
  Settings(Map<String, String> environment, IExecutionStrategy next) {
    environment.forEach((name, value) -> {
      if (name.startsWith(PREFIX) && !value.isEmpty() && !isServiceLink(name, value)) {
        variables.put(name, value);
      }
    });
    this.next = next;
  }

  @Override
  public int execute(ParseResult parsed) {
    ParseResult command = parsed.subcommand();
    if (command == null
        || command.commandSpec().findOption("--" + CONFIG) == null
        || command.isUsageHelpRequested()
        || command.isVersionHelpRequested()) {
      return next.execute(parsed);
    }
    CommandLine commandLine = command.commandSpec().commandLine();
    try {
      collect(parsed, command);
    } catch (SettingsException e) {
      throw new ParameterException(commandLine, e.getMessage());
    }
    ParseResult whole = parsed;
    if (!taken.isEmpty()) {
      whole = parsed.commandSpec().commandLine().parseArgs(withTaken(parsed, command));
    }
    warn(whole.subcommand());
    return next.execute(whole);
  }

  /** The options by names without dashes. */
  static Map<String, OptionSpec> names(CommandSpec command) {
    Map<String, OptionSpec> names = new LinkedHashMap<>();
    for (OptionSpec option : command.options()) {
      if (!option.usageHelp() && !option.versionHelp()) {
        for (String name : option.names()) {
          if (name.startsWith("--")) {
            names.put(name.substring(2), option);
          }
        }
      }
    }
    return names;
  }

  private void collect(ParseResult parsed, ParseResult command) {
    Map<String, OptionSpec> names = names(command.commandSpec());
    Map<String, OptionSpec> open = new LinkedHashMap<>();
    names.forEach((name, option) -> {
      if (!isGiven(parsed, command, option)) {
        open.put(name, option);
      }
    });
    valuesOfVariables(open).forEach(taken::putIfAbsent);
    Path file = file(command);
    if (file != null) {
      collect(SettingsFile.read(file), names, open);
    }
  }

  private static boolean isGiven(ParseResult parsed, ParseResult command, OptionSpec option) {
    String flag = option.longestName();
    // The command's own argument is one more repository.
    return command.hasMatchedOption(flag)
        || parsed.hasMatchedOption(flag)
        || flag.equals("--model-repository") && command.hasMatchedPositional(0);
  }

  private Path file(ParseResult command) {
    List<SettingsFile.Value> variable = taken.get("--" + CONFIG);
    return variable == null
        ? command.matchedOptionValue("--" + CONFIG, null)
        : Path.of(variable.getFirst().text());
  }

  private void collect(
      List<SettingsFile.Entry> entries,
      Map<String, OptionSpec> names,
      Map<String, OptionSpec> open) {
    Map<OptionSpec, SettingsFile.Entry> seen = new HashMap<>();
    for (SettingsFile.Entry entry : entries) {
      String name = entry.name().replace('_', '-');
      OptionSpec option = names.get(name);
      check(
          option != null, entry, () -> "unknown name '" + entry.name() + "'" + meant(name, names));
      check(!name.equals(CONFIG), entry, () -> "a file of settings cannot name another");
      check(
          option.isMultiValue() || !entry.isList(),
          entry,
          () -> "expected one value for '" + entry.name() + "', got a list");
      SettingsFile.Entry earlier = seen.put(option, entry);
      check(
          earlier == null,
          entry,
          () -> "'" + entry.name() + "' is set already, at " + earlier.place());
      if (open.containsKey(name) && !entry.values().isEmpty()) {
        taken.putIfAbsent(option.longestName(), entry.values());
      }
    }
  }

  private static String meant(String name, Map<String, OptionSpec> names) {
    return Names.nearest(name, visible(names))
        .map(near -> "; did you mean '" + near + "'?")
        .orElse("");
  }

  /** The names for suggestions, without options that have no effect. */
  private static List<String> visible(Map<String, OptionSpec> names) {
    return names.keySet().stream().filter(name -> !names.get(name).hidden()).toList();
  }

  private interface Message {
    String text();
  }

  private static void check(boolean holds, SettingsFile.Entry entry, Message otherwise) {
    if (!holds) {
      throw new SettingsException(entry.place() + ": " + otherwise.text());
    }
  }

  /** The command line with an argument for each value, before the original arguments. */
  private String[] withTaken(ParseResult parsed, ParseResult command) {
    List<String> args = new ArrayList<>(parsed.expandedArgs());
    int at = args.indexOf(command.commandSpec().name()) + 1;
    List<String> more = new ArrayList<>();
    taken.forEach((flag, values) -> values.forEach(value -> more.add(flag + "=" + value.text())));
    args.addAll(at, more);
    return args.toArray(String[]::new);
  }

  private void warn(ParseResult command) {
    var err = command.commandSpec().commandLine().getErr();
    Map<String, OptionSpec> names = names(command.commandSpec());
    unknownVariables(names.keySet(), visible(names))
        .forEach(warning -> err.println("nereid: warning: " + warning));
    for (String warning : TritonFlags.warnings(command)) {
      err.println("nereid: warning: " + located(warning));
    }
  }

  /**
   * Adds to a message the place of the first flag that it names, if that is not the command line.
   */
  String located(String message) {
    Matcher flags = FLAG.matcher(message);
    while (flags.find()) {
      List<SettingsFile.Value> values = taken.get(flags.group());
      if (values != null) {
        return place(values, message) + ": " + message;
      }
    }
    return message;
  }

  private static String place(List<SettingsFile.Value> values, String message) {
    Optional<SettingsFile.Value> named =
        values.stream().filter(value -> message.contains("'" + value.text() + "'")).findFirst();
    return named.orElse(values.getFirst()).place();
  }

  // ---- The environment --------------------------------------------------------------------------

  private static boolean isServiceLink(String name, String value) {
    return SERVICE_LINK.matcher(name).matches()
        || name.endsWith("_PORT") && SERVICE_ADDRESS.matcher(value).matches();
  }

  static String variable(String name) {
    return PREFIX + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** The variables of the given options, by flag. */
  private Map<String, List<SettingsFile.Value>> valuesOfVariables(Map<String, OptionSpec> options) {
    Map<String, List<SettingsFile.Value>> values = new LinkedHashMap<>();
    options.forEach((name, option) -> {
      String variable = variable(name);
      String text = variables.get(variable);
      List<SettingsFile.Value> parts = text == null ? List.of() : split(option, variable, text);
      if (!parts.isEmpty()) {
        values.putIfAbsent(option.longestName(), parts);
      }
    });
    return values;
  }

  private static List<SettingsFile.Value> split(OptionSpec option, String variable, String text) {
    if (!option.isMultiValue()) {
      return List.of(new SettingsFile.Value(text, variable));
    }
    return Arrays.stream(text.split(VARIABLE_SEPARATOR))
        .filter(part -> !part.isEmpty())
        .map(part -> new SettingsFile.Value(part, variable))
        .toList();
  }

  /** Warnings about variables that look like settings but are none. */
  private List<String> unknownVariables(Set<String> names, Collection<String> suggestions) {
    Set<String> known = names.stream().map(Settings::variable).collect(Collectors.toSet());
    List<String> near = suggestions.stream().map(Settings::variable).toList();
    List<String> lines = new ArrayList<>();
    for (String name : variables.keySet()) {
      if (!known.contains(name)) {
        String meant =
            Names.nearest(name, near).map(other -> "; did you mean " + other + "?").orElse("");
        lines.add("the variable " + name + " is not a setting" + meant);
      }
    }
    return lines;
  }
}
