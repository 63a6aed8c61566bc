package io.nereid.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.OptionSpec;

/** Settings from variables: {@code NEREID_HTTP_PORT} is {@code --http-port}. */
final class EnvironmentSettings {

  private static final String PREFIX = "NEREID_";

  /** What Kubernetes sets in every container for a service that is called "nereid...". */
  private static final Pattern SERVICE_LINK =
      Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");

  private static final Pattern SERVICE_ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");

  private final Map<String, String> variables = new TreeMap<>();

  EnvironmentSettings(Map<String, String> environment) {
    environment.forEach((name, value) -> {
      if (name.startsWith(PREFIX) && !value.isEmpty() && !isServiceLink(name, value)) {
        variables.put(name, value);
      }
    });
  }

  private static boolean isServiceLink(String name, String value) {
    return SERVICE_LINK.matcher(name).matches()
        || name.endsWith("_PORT") && SERVICE_ADDRESS.matcher(value).matches();
  }

  static String variable(String name) {
    return PREFIX + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** What is set of the given options, by flag. */
  Map<String, List<SettingsFile.Value>> values(Map<String, OptionSpec> options) {
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
    return Arrays.stream(text.split(Settings.VARIABLE_SEPARATOR))
        .filter(part -> !part.isEmpty())
        .map(part -> new SettingsFile.Value(part, variable))
        .toList();
  }

  /** A line about each variable that looks like a setting and is none. */
  List<String> unknown(Set<String> names, Collection<String> suggestions) {
    Set<String> known =
        names.stream().map(EnvironmentSettings::variable).collect(Collectors.toSet());
    List<String> near = suggestions.stream().map(EnvironmentSettings::variable).toList();
    List<String> lines = new ArrayList<>();
    for (String name : variables.keySet()) {
      if (!known.contains(name)) {
        String meant =
            NearestName.of(name, near).map(other -> "; did you mean " + other + "?").orElse("");
        lines.add("the variable " + name + " is not a setting" + meant);
      }
    }
    return lines;
  }
}
