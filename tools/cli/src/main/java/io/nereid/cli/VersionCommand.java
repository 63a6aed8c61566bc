package io.nereid.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code nereid version}: prints the same as {@code nereid --version}. */
@Command(
    name = "version",
    description = "Print the version, and that of Java.",
    mixinStandardHelpOptions = true)
final class VersionCommand implements Runnable {
  @Spec private CommandSpec command;

  @Override
  public void run() {
    var out = command.commandLine().getOut();
    command.root().commandLine().printVersionHelp(out);
    out.flush();
  }
}
