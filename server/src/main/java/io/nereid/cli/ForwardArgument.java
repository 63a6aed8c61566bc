package io.nereid.cli;

import io.nereid.server.shared.HeaderForwarding;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The regular expression that says which header fields become parameters. */
final class ForwardArgument {

  private ForwardArgument() {}

  /** Empty for no expression, or an empty one, which Triton takes for none. */
  static Optional<HeaderForwarding> parse(CommandSpec command, String flag, String expression) {
    if (expression == null || expression.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new HeaderForwarding(expression));
    } catch (PatternSyntaxException e) {
      throw new ParameterException(
          command.commandLine(),
          "expected a regular expression for "
              + flag
              + ", got '"
              + expression
              + "': "
              + e.getDescription(),
          e);
    }
  }
}
