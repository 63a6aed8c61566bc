package io.nereid.cli;

import io.nereid.types.Names;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One {@code NAME=VALUE} of a command that changes settings of a running server.
 *
 * @param value empty: what the server was started with
 */
record SettingChange(String name, String value) {

  /** Makes picocli read one. */
  static final class Converter implements ITypeConverter<SettingChange> {
    @Override
    public SettingChange convert(String text) {
      int at = text.indexOf('=');
      if (at < 1) {
        throw new TypeConversionException("expected NAME=VALUE, got '" + text + "'");
      }
      return new SettingChange(text.substring(0, at), text.substring(at + 1));
    }
  }

  /** The server's name of it: the prefix may be left out. */
  String fullName(String prefix, Collection<String> known) {
    if (known.contains(name)) {
      return name;
    }
    if (known.contains(prefix + name)) {
      return prefix + name;
    }
    throw new IllegalArgumentException(
        "there is no setting '" + name + "'" + Names.hint("there is", prefix + name, known));
  }

  /** A line for each setting. */
  static void print(PrintWriter out, Map<String, ?> settings) {
    settings.forEach((name, value) -> {
      String text =
          value instanceof List<?> list
              ? String.join(",", list.stream().map(String::valueOf).toList())
              : String.valueOf(value);
      out.println(Texts.printable(name + "=" + text));
    });
  }
}
