package io.nereid.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code nereid bench}: the group of commands whose measurements lead to a verdict. */
@Command(
    name = "bench",
    description = "Say what became slower or answers otherwise, and what answers depend on.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {BenchCompareCommand.class, BatchSensitivityCommand.class})
final class BenchCommand implements Runnable {
  @Spec private CommandSpec command;

  @Override
  public void run() {
    throw new ParameterException(
        command.commandLine(),
        "expected 'nereid bench compare' or 'nereid bench batch-sensitivity'");
  }
}
