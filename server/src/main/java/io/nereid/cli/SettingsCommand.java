package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Parameters;

/**
 * A command that shows settings of a running server, and changes those that are named.
 *
 * @param <V> what a setting's value is to the server
 */
abstract class SettingsCommand<V> extends RemoteCommand {

  private final String prefix;
  private final String what;

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME=VALUE",
      converter = SettingChange.Converter.class,
      description = "A new value, by Triton's names with or without what they begin with.")
  private List<SettingChange> changes = List.of();

  /**
   * Takes what its settings are called.
   *
   * @param prefix what the server's names of them begin with
   * @param what in a message
   */
  SettingsCommand(String prefix, String what) {
    this.prefix = prefix;
    this.what = what;
  }

  /** Asks for the settings. */
  abstract Map<String, V> settings(InferenceClient client);

  /** Changes some, and returns all. */
  abstract Map<String, V> change(InferenceClient client, Map<String, V> wanted);

  /** A new value; {@code now} is the one before. */
  abstract V value(String name, V now, String text);

  @Override
  final int run(ServerConnection server, PrintWriter out) throws IOException {
    Map<String, V> settings = server.ask("expected " + what + " of " + server, this::settings);
    if (!changes.isEmpty()) {
      Map<String, V> wanted = new LinkedHashMap<>();
      for (SettingChange change : changes) {
        String name = change.fullName(prefix, settings.keySet());
        wanted.put(name, value(name, settings.get(name), change.value()));
      }
      settings =
          server.ask("expected other " + what + " of " + server, client -> change(client, wanted));
    }
    if (json) {
      printJson(out, settings);
    } else {
      SettingChange.print(out, settings);
    }
    return 0;
  }
}
