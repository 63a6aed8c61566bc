package io.nereid.cli;

import io.nereid.server.shared.HeaderForwarding;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Options under one heading of a command's help. Picocli sets the fields of a subclass, which makes
 * the server's records from them, with the checks of this class. A flag is named only at its field:
 * the names in the environment and in the file of {@code --config} follow from it ({@link
 * Settings}), and the field's initial value is the default. Runs on the main thread, before the
 * server starts.
 */
abstract class Arguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  final CommandSpec command() {
    return command;
  }

  /** The fault of the command line, for the caller to throw. */
  final ParameterException wrong(String expected, String got) {
    return wrong(command, expected, got);
  }

  static ParameterException wrong(CommandSpec command, String expected, String got) {
    return new ParameterException(command.commandLine(), "expected " + expected + ", got " + got);
  }

  /** Returns the number; throws if it is below the least. */
  final <N extends Number> N atLeast(long least, String flag, N got) {
    if (got.longValue() < least) {
      throw wrong(flag + " of " + least + " or more", got.toString());
    }
    return got;
  }

  /** Converts seconds, of which there must be at least one. */
  final Duration seconds(String flag, long got) {
    return Duration.ofSeconds(atLeast(1, flag, got));
  }

  final int port(String flag, int got) {
    if (got < 0 || got > 65_535) {
      throw wrong(flag + " from 0 to 65535", Integer.toString(got));
    }
    return got;
  }

  /**
   * The header fields that become parameters. Empty without an expression, or with an empty one, as
   * in Triton.
   */
  final Optional<HeaderForwarding> forwarding(String flag, String expression) {
    if (expression == null || expression.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new HeaderForwarding(expression));
    } catch (PatternSyntaxException e) {
      throw wrong(
          "a regular expression for " + flag, "'" + expression + "': " + e.getDescription());
    }
  }
}
