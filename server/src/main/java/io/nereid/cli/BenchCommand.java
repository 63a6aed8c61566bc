package io.nereid.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code nereid bench}: measurements that decide something, rather than only show figures. */
@Command(
    name = "bench",
    description = "Compare models, or versions of Nereid, and say what became slower.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = BenchCompareCommand.class)
final class BenchCommand implements Runnable {
  @Spec private CommandSpec command;

  @Override
  public void run() {
    throw new ParameterException(command.commandLine(), "expected 'nereid bench compare'");
  }
}
