package io.nereid.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes the commands and options as a script of fish. */
final class FishCompletion {

  private static final String MODELS =
      """
      # Names of models, where the options that are there say they are.
      function __nereid_models
          set -l words (commandline -opc)
          set -l places
          for i in (seq 3 (count $words))
              switch $words[$i]
                  case %s
                      set places $places $words[$i] $words[(math $i + 1)]
                  case '--*=*'
                      set -l parts (string split -m 1 = -- $words[$i])
                      if contains -- $parts[1] %s
                          set places $places $words[$i]
                      end
              end
          end
          $words[1] models --names $places 2>/dev/null
      end

      """;

  private FishCompletion() {}

  static String of(CommandLine root) {
    String name = root.getCommandName();
    ModelWords models = ModelWords.of(root);
    String places = models.places().stream().sorted().collect(Collectors.joining(" "));
    StringBuilder script = new StringBuilder(String.format(MODELS, places, places));
    script.append("complete -c ").append(name).append(" -n __fish_use_subcommand -f\n");
    for (Map.Entry<String, CommandLine> each : root.getSubcommands().entrySet()) {
      CommandSpec command = each.getValue().getCommandSpec();
      script
          .append("complete -c " + name + " -n __fish_use_subcommand -a " + each.getKey() + " -d ")
          .append(quoted(text(command.usageMessage().description())))
          .append('\n');
      String line =
          "complete -c " + name + " -n '__fish_seen_subcommand_from " + each.getKey() + "'";
      for (OptionSpec option : command.options()) {
        if (!option.hidden()) {
          script.append(line).append(option(option, models)).append('\n');
        }
      }
      if (models.commands().contains(each.getKey())) {
        script.append(line).append(" -a '(__nereid_models)'\n");
      }
    }
    return script.toString();
  }

  private static String option(OptionSpec option, ModelWords models) {
    StringBuilder words = new StringBuilder();
    for (String name : option.names()) {
      words.append(name.startsWith("--") ? " -l " : " -s ").append(name.replaceFirst("^--?", ""));
    }
    if (List.of(option.names()).stream().anyMatch(models.options()::contains)) {
      words.append(" -x -a '(__nereid_models)'");
    } else if (option.arity().min() > 0) {
      words.append(" -r");
    }
    return words + " -d " + quoted(text(option.description()));
  }

  /** Returns the first sentence of a description, which is enough for a completion. */
  private static String text(String[] description) {
    String first = description.length == 0 ? "" : description[0];
    return first.replace("${DEFAULT-VALUE}", "…").replaceFirst("(?<=[^.])[.;] .*", "");
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
