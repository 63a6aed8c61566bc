package io.nereid.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid completion}: prints a script by which a shell completes commands and options. */
@Command(
    name = "completion",
    description = "Print a script that makes bash or zsh complete commands and options.",
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  source <(nereid completion bash)"})
final class CompletionCommand implements Runnable {
  private enum Shell {
    BASH,
    ZSH
  }

  @Spec private CommandSpec command;

  /** The script tells by itself which of the two reads it. */
  @Parameters(paramLabel = "SHELL", description = "bash or zsh")
  private Shell shell;

  @Override
  public void run() {
    var out = command.commandLine().getOut();
    out.println(AutoComplete.bash(command.root().name(), command.root().commandLine()));
    out.flush();
  }
}
