package io.nereid.cli;

import io.nereid.client.InferenceClient;
import java.util.Map;
import picocli.CommandLine.Command;

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
final class LogsCommand extends SettingsCommand<Object> {

  LogsCommand() {
    super("log_", "log settings");
  }

  @Override
  Map<String, Object> settings(InferenceClient client) {
    return client.logSettings();
  }

  @Override
  Map<String, Object> change(InferenceClient client, Map<String, Object> wanted) {
    return client.changeLogSettings(wanted);
  }

  /** Converts a value to the type of the setting's present value. */
  @Override
  Object value(String name, Object now, String value) {
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
