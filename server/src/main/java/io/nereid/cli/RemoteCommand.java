package io.nereid.cli;

import io.nereid.perf.ServerArguments;
import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.jr.ob.JSON;

/** A command that asks a running server, and prints a text for people or JSON for scripts. */
abstract class RemoteCommand implements Callable<Integer> {

  @Spec CommandSpec command;

  @Mixin private ServerArguments server;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Override
  public final Integer call() throws IOException, InterruptedException {
    try (ServerConnection connection = connect(command, server)) {
      return run(connection, command.commandLine().getOut());
    }
  }

  /** Returns the exit code. */
  abstract int run(ServerConnection connection, PrintWriter out)
      throws IOException, InterruptedException;

  /** To the server that the options name; nothing is sent yet. */
  static ServerConnection connect(CommandSpec command, ServerArguments server) throws IOException {
    try {
      return server.connect();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  static void printJson(PrintWriter out, Object value) throws IOException {
    out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value));
  }
}
