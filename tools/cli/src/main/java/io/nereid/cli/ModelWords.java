package io.nereid.cli;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The words of command lines about models: those after which a shell completes a model's name, and
 * the options for the models' places, all derived from the commands.
 *
 * @param commands whose first argument is a model
 * @param options whose value is a model
 * @param places options that {@code nereid models} has as well, and that need a value
 * @param valued all options of these commands that need a value
 */
record ModelWords(
    Set<String> commands, Set<String> options, Set<String> places, Set<String> valued) {

  private static final String MODEL = "MODEL";

  static ModelWords of(CommandLine root) {
    ModelWords words =
        new ModelWords(
            new LinkedHashSet<>(),
            new LinkedHashSet<>(),
            new LinkedHashSet<>(),
            new LinkedHashSet<>());
    CommandSpec models = root.getSubcommands().get("models").getCommandSpec();
    root.getSubcommands()
        .forEach((name, command) -> words.add(name, command.getCommandSpec(), models));
    return words;
  }

  private void add(String name, CommandSpec command, CommandSpec models) {
    List<OptionSpec> named = command.options().stream().filter(ModelWords::isModel).toList();
    boolean first = command.positionalParameters().stream().anyMatch(ModelWords::isModel);
    if (named.isEmpty() && !first) {
      return;
    }
    if (first) {
      commands.add(name);
    }
    named.forEach(option -> options.addAll(List.of(option.names())));
    for (OptionSpec option : command.options()) {
      OptionSpec same = models.findOption(option.longestName());
      if (option.arity().min() > 0 && (same == null || same.arity().min() > 0)) {
        valued.addAll(List.of(option.names()));
        if (same != null) {
          places.addAll(List.of(option.names()));
        }
      }
    }
  }

  private static boolean isModel(ArgSpec argument) {
    return argument.paramLabel().equals(MODEL);
  }

  /** The alternatives of a shell's {@code case}. */
  static String pattern(Set<String> words) {
    return words.stream().sorted().collect(Collectors.joining(" | "));
  }
}
