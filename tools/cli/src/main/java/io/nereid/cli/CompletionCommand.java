package io.nereid.cli;

import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid completion}: prints a script by which a shell completes commands and options. */
@Command(
    name = "completion",
    description =
        "Print a script that makes bash, zsh or fish complete commands, options and models.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  source <(nereid completion bash)",
      "  nereid completion fish | source"
    })
final class CompletionCommand implements Runnable {
  private enum Shell {
    BASH,
    ZSH,
    FISH
  }

  private static final String FUNCTION = "_complete_nereid";

  /** The part of the script that completes models' names, after picocli's part. */
  private static final String MODELS =
      """

      # Names of models, where the options that are there say they are.
      function _nereid_models() {
        local i value='' model='' seen=0 places=()
        local current="${COMP_WORDS[COMP_CWORD]}"
        for ((i = 2; i < COMP_CWORD; i++)); do
          local word="${COMP_WORDS[i]}"
          while [[ ${COMP_WORDS[i + 1]-} == [:=]* || $word == *[:=] ]] && ((i + 1 < COMP_CWORD)); do
            i=$((i + 1)) # bash has split it there
            word+="${COMP_WORDS[i]}"
          done
          if [[ $value ]]; then
            [[ $value != place ]] || places+=("$word")
            value=''
            continue
          fi
          model=''
          case $word in
            %1$s) value=place places+=("$word") ;;
            %2$s) value=model model=yes ;;
            %3$s) value=other ;;
            --*=*)
              case ${word%%%%=*} in %1$s) places+=("$word") ;; esac
              ;;
            -*) ;;
            *) seen=$((seen + 1)) ;;
          esac
        done
        case ${COMP_WORDS[1]} in
          %4$s) [[ $value || $seen != 0 ]] || model=yes ;;
        esac
        if [[ ($value == '' || $value == model) && $model == yes && $current != -* ]]; then
          local names
          names=$("${COMP_WORDS[0]}" models --names "${places[@]}" 2>/dev/null) || return
          COMPREPLY=($(compgen -W "$names" -- "$current"))
        fi
      }

      function _complete_nereid() {
        _complete_nereid_options
        local code=$?
        [[ $COMP_CWORD -lt 2 || ${#COMPREPLY[@]} -gt 0 ]] || _nereid_models
        return $code
      }
      """;

  @Spec private CommandSpec command;

  /** The shell; the script for bash also works in zsh, which it detects. */
  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish")
  private Shell shell;

  @Override
  public void run() {
    CommandLine root = command.root().commandLine();
    var out = command.commandLine().getOut();
    out.println(shell == Shell.FISH ? FishCompletion.of(root) : bash(root));
    out.flush();
  }

  private String bash(CommandLine root) {
    ModelWords words = ModelWords.of(root);
    String options = AutoComplete.bash(command.root().name(), root);
    return options.replace("function " + FUNCTION + "()", "function " + FUNCTION + "_options()")
        + String.format(
            MODELS,
            ModelWords.pattern(words.places()),
            ModelWords.pattern(words.options()),
            ModelWords.pattern(words.valued()),
            ModelWords.pattern(words.commands()));
  }
}
