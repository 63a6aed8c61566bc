package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.perf.ServerConnection;
import io.nereid.types.Names;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/**
 * A command that shows settings of a running server, and changes those that are named.
 *
 * @param <V> the type of a setting's value
 */
abstract class SettingsCommand<V> extends RemoteCommand {

  /**
   * One {@code NAME=VALUE}.
   *
   * @param value empty: the value at the server's start
   */
  record Change(String name, String value) {}

  /** Parses a change for picocli. */
  static final class Converter implements ITypeConverter<Change> {
    @Override
    public Change convert(String text) {
      int at = text.indexOf('=');
      if (at < 1) {
        throw new TypeConversionException("expected NAME=VALUE, got '" + text + "'");
      }
      return new Change(text.substring(0, at), text.substring(at + 1));
    }
  }

  private final String prefix;
  private final String what;

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME=VALUE",
      converter = Converter.class,
      description = "A new value, by Triton's names with or without what they begin with.")
  private List<Change> changes = List.of();

  /**
   * Makes a command for settings.
   *
   * @param prefix the prefix of the server's names
   * @param what the settings' name in messages
   */
  SettingsCommand(String prefix, String what) {
    this.prefix = prefix;
    this.what = what;
  }

  /** Asks for the settings. */
  abstract Map<String, V> settings(InferenceClient client);

  /** Changes some, and returns all. */
  abstract Map<String, V> change(InferenceClient client, Map<String, V> wanted);

  /** Converts a new value; {@code now} is the present one. */
  abstract V value(String name, V now, String text);

  @Override
  final int run(ServerConnection server, PrintWriter out) throws IOException {
    Map<String, V> settings = server.ask("expected " + what + " of " + server, this::settings);
    if (!changes.isEmpty()) {
      Map<String, V> wanted = new LinkedHashMap<>();
      for (Change change : changes) {
        String name = fullName(change.name(), settings.keySet());
        wanted.put(name, value(name, settings.get(name), change.value()));
      }
      settings =
          server.ask("expected other " + what + " of " + server, client -> change(client, wanted));
    }
    if (json) {
      printJson(out, settings);
    } else {
      print(out, settings);
    }
    return 0;
  }

  /** The server's name of a setting, whose prefix may be left out. */
  private String fullName(String name, Set<String> known) {
    if (known.contains(name)) {
      return name;
    }
    if (known.contains(prefix + name)) {
      return prefix + name;
    }
    throw new IllegalArgumentException(
        "there is no setting '" + name + "'" + Names.hint("there is", prefix + name, known));
  }

  /** Prints a line for each setting. */
  private static void print(PrintWriter out, Map<String, ?> settings) {
    settings.forEach((name, value) -> {
      String text =
          value instanceof List<?> list
              ? String.join(",", list.stream().map(String::valueOf).toList())
              : String.valueOf(value);
      out.println(Texts.printable(name + "=" + text));
    });
  }
}
