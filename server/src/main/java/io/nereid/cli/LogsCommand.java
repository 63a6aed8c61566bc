package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code nereid logs}: shows and changes what a running server logs. */
@Command(
    name = "logs",
    description = "Show what a running server logs, and where, or change what it logs.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  nereid logs",
      "  nereid logs verbose_level=1 format=json -u host:8000",
      "  nereid logs info=false"
    })
final class LogsCommand extends RemoteCommand {

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME=VALUE",
      converter = SettingChange.Converter.class,
      description = "A new value, by Triton's names with or without 'log_'.")
  private List<SettingChange> changes = List.of();

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException {
    Map<String, Object> settings =
        server.ask("expected log settings of " + server, InferenceClient::logSettings);
    if (!changes.isEmpty()) {
      Map<String, Object> wanted = new LinkedHashMap<>();
      for (SettingChange change : changes) {
        String name = change.fullName("log_", settings.keySet());
        wanted.put(name, typed(name, settings.get(name), change.value()));
      }
      settings =
          server.ask(
              "expected other log settings of " + server,
              client -> client.changeLogSettings(wanted));
    }
    if (json) {
      printJson(out, settings);
    } else {
      SettingChange.print(out, settings);
    }
    return 0;
  }

  /** The value has the type that the setting has now. */
  private static Object typed(String name, Object now, String value) {
    return switch (now) {
      case Boolean truth -> {
        if (!value.equals("true") && !value.equals("false")) {
          throw new IllegalArgumentException(
              "expected " + name + "=true or " + name + "=false, got '" + value + "'");
        }
        yield Boolean.valueOf(value);
      }
      case Number number -> {
        if (!value.matches("[0-9]{1,9}")) {
          throw new IllegalArgumentException("expected " + name + "=NUMBER, got '" + value + "'");
        }
        yield Long.valueOf(value);
      }
      default -> value;
    };
  }
}
