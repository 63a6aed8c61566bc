package io.nereid.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** Parses a command line of serve with its settings, as Main does, and stops before it runs. */
final class SettingsRun {

  private final StringWriter err = new StringWriter();
  private final int exitCode;
  private CommandSpec serve;

  SettingsRun(Map<String, String> environment, String... args) {
    CommandLine command = Main.commandLine("serve");
    Settings settings = new Settings(environment, this::keep);
    Errors errors = new Errors(() -> false, settings::located);
    command
        .setErr(new PrintWriter(err, true))
        .setParameterExceptionHandler(errors)
        .setExecutionExceptionHandler(errors)
        .setExecutionStrategy(settings);
    String[] all = new String[args.length + 1];
    all[0] = "serve";
    System.arraycopy(args, 0, all, 1, args.length);
    exitCode = command.execute(all);
  }

  private int keep(ParseResult parsed) {
    serve = parsed.subcommand().commandSpec();
    return 0;
  }

  int exitCode() {
    return exitCode;
  }

  String err() {
    return err.toString();
  }

  /** What an option was set to, as text. */
  String value(String flag) {
    if (serve == null) {
      throw new AssertionError(err());
    }
    Object value = serve.findOption(flag).getValue();
    return value instanceof Object[] array ? List.of(array).toString() : String.valueOf(value);
  }

  /** The command, as it would run. */
  ServeCommand serve() {
    return (ServeCommand) serve.userObject();
  }

  /** The arguments of one theme. */
  <T> T mixin(Class<T> type) {
    return serve.mixins().values().stream()
        .map(CommandSpec::userObject)
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElseThrow(() -> new AssertionError(Arrays.toString(serve.mixins().keySet().toArray())));
  }
}
