package io.nereid.cli;

import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogFormat;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for the log's content, form and place; Triton's flags if it has them. */
final class LogArguments extends Arguments {

  @Option(
      names = "--log-info",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Log information; ${DEFAULT-VALUE} by default.")
  private boolean info = true;

  @Option(
      names = "--log-warning",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Log warnings; ${DEFAULT-VALUE} by default.")
  private boolean warning = true;

  @Option(
      names = "--log-error",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Log errors; ${DEFAULT-VALUE} by default.")
  private boolean error = true;

  @Option(
      names = "--log-verbose",
      paramLabel = "N",
      description =
          "Log more: 1 for what helps to find faults, 2 for all; ${DEFAULT-VALUE} by default.")
  private int verboseLevel;

  @Option(
      names = "--log-format",
      paramLabel = "FORMAT",
      description =
          "text, or json for an object to a line; default and ISO8601 are text."
              + " ${DEFAULT-VALUE} by default.")
  private String format = "text";

  @Option(
      names = "--log-file",
      paramLabel = "FILE",
      description = "Append the log to a file; it goes to the error stream by default.")
  private Path file;

  @Option(
      names = "--access-log",
      arity = "0..1",
      paramLabel = "FILE",
      fallbackValue = "",
      description = "Log every request: --access-log=FILE to a file, without one to the log.")
  private String accessLog;

  /** Takes over the log of the process. */
  LogSettings install() {
    atLeast(0, "--log-verbose", verboseLevel);
    LogFormat form =
        LogFormat.of(format)
            .orElseThrow(() ->
                wrong("--log-format text, json, default or ISO8601", Texts.printable(format)));
    return LogSettings.install(
        new LogValues(info, warning, error, verboseLevel, form), Optional.ofNullable(file));
  }

  /** The log with a line for each request, if there is one. */
  Optional<AccessLog> accessLog(LogSettings log) {
    return Optional.ofNullable(accessLog)
        .map(to -> to.isEmpty() ? AccessLog.toLog(log) : AccessLog.toFile(Path.of(to), log));
  }
}
