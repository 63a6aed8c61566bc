package io.nereid.cli;

import io.nereid.types.Names;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns a failure of any command into one line on the error stream and an exit code. */
final class Errors implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private final BooleanSupplier stacktrace;
  private final UnaryOperator<String> located;

  Errors(BooleanSupplier stacktrace) {
    this(stacktrace, UnaryOperator.identity());
  }

  /**
   * {@code located} adds the places of options to messages.
   *
   * @param located adds to a message the source of the option that it is about
   */
  Errors(BooleanSupplier stacktrace, UnaryOperator<String> located) {
    this.stacktrace = stacktrace;
    this.located = located;
  }

  @Override
  public int handleParseException(ParameterException error, String[] args) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("nereid: " + located.apply(usageMessage(error)));
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  @Override
  public int handleExecutionException(Exception error, CommandLine command, ParseResult parsed) {
    return report(error, command);
  }

  /**
   * Reports a failure, even one that is no {@link Exception}: a native library that cannot be
   * linked, no memory.
   */
  int report(Throwable error, CommandLine command) {
    PrintWriter err = command.getErr();
    if (stacktrace.getAsBoolean()) {
      error.printStackTrace(err);
    } else {
      err.println("nereid: " + message(error));
    }
    return command.getCommandSpec().exitCodeOnExecutionException();
  }

  private static String usageMessage(ParameterException error) {
    CommandLine command = error.getCommandLine();
    if (error instanceof UnmatchedArgumentException unmatched
        && !unmatched.isUnknownOption()
        && !command.getSubcommands().isEmpty()) {
      String written = unmatched.getUnmatched().getFirst();
      return "no such command: "
          + written
          + "; there is "
          + String.join(", ", command.getSubcommands().keySet())
          + Names.nearest(written, command.getSubcommands().keySet())
              .map(near -> "; did you mean " + near + "?")
              .orElse("");
    }
    if (error instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()) {
      return message(error) + meant(command, unmatched.getUnmatched().getFirst());
    }
    return message(error);
  }

  private static String meant(CommandLine command, String argument) {
    List<String> flags =
        Settings.names(command.getCommandSpec()).entrySet().stream()
            .filter(entry -> !entry.getValue().hidden())
            .map(entry -> "--" + entry.getKey())
            .toList();
    return Names.nearest(argument.split("=", 2)[0], flags)
        .map(flag -> "; did you mean " + flag + "?")
        .orElse("");
  }

  private static String message(Throwable error) {
    String message =
        switch (error) {
          // The exception's own message is the bare path.
          case NoSuchFileException e -> "no such file: " + e.getFile();
          case AccessDeniedException e -> "permission denied: " + e.getFile();
          // The exception has no message; its cause is the failure.
          case ExceptionInInitializerError e when e.getCause() != null -> message(e.getCause());
          case Throwable e when e.getMessage() != null -> e.getMessage();
          default -> error.getClass().getSimpleName();
        };
    return Texts.printable(message.strip().replaceAll("\\s*\\R\\s*", "; "));
  }
}
