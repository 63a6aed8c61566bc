package io.nereid.cli;

import io.nereid.server.shared.HeaderForwarding;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Options that stand under one heading of a command's help. Picocli fills the fields of a subclass,
 * and the subclass makes of them the records that the server takes, with the checks of this class.
 * A flag is named once, at its field: the environment and the file of {@code --config} follow from
 * it ({@link Settings}), and the field's first value is its default. All of it runs on the main
 * thread, before the server starts.
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

  /** The number, which must not be less than that. */
  final <N extends Number> N atLeast(long least, String flag, N got) {
    if (got.longValue() < least) {
      throw wrong(flag + " of " + least + " or more", got.toString());
    }
    return got;
  }

  /** One second or more. */
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
   * The header fields that become parameters. Empty for no expression, or an empty one, which
   * Triton takes for none.
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
