package io.nereid.cli;

import io.nereid.server.console.ConsoleOptions;
import io.nereid.server.http.ConsoleProvider;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for the console. */
final class ConsoleArguments extends Arguments {

  @Option(
      names = "--allow-console",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Serve the console, at the port of HTTP; ${DEFAULT-VALUE} by default.")
  private boolean allowed = true;

  @Option(
      names = "--console-path",
      paramLabel = "PATH",
      description = "Where its first page is; ${DEFAULT-VALUE} by default.")
  private String path = ConsoleOptions.DEFAULT.path();

  @Option(
      names = "--console-history-hours",
      paramLabel = "HOURS",
      description =
          "How long it keeps what the models did, 1 to 168; ${DEFAULT-VALUE} by default. A day of a"
              + " model takes 173 KB.")
  private int historyHours = (int) ConsoleOptions.DEFAULT.history().toHours();

  /** The console; empty: none. */
  Optional<ConsoleProvider> options() {
    String closed = path.endsWith("/") ? path : path + "/";
    if (!ConsoleOptions.isPath(closed)) {
      throw wrong("--console-path of a path such as /console/, outside of /v2/", "'" + path + "'");
    }
    if (historyHours < 1 || historyHours > 168) {
      throw wrong("--console-history-hours from 1 to 168", Integer.toString(historyHours));
    }
    ConsoleOptions options = new ConsoleOptions(closed, Duration.ofHours(historyHours));
    return allowed ? Optional.of(options) : Optional.empty();
  }
}
