package io.nereid.cli;

import io.nereid.server.console.ConsoleOptions;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags that say whether and where there is a console. */
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

  /** Empty where there is to be no console. */
  Optional<ConsoleOptions> options() {
    String closed = path.endsWith("/") ? path : path + "/";
    if (!ConsoleOptions.isPath(closed)) {
      throw wrong("--console-path of a path such as /console/, outside of /v2/", "'" + path + "'");
    }
    return allowed ? Optional.of(new ConsoleOptions(closed)) : Optional.empty();
  }
}
