package io.nereid.internal.config;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.nereid.model.ModelConfiguration.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes a configuration in protobuf's text format, one value a line. */
final class ConfigPrinter extends ConfigWalk {

  /** The column that comments align to; those of longer lines follow the line directly. */
  private static final int LAST_COLUMN = 56;

  private record Line(String text, String comment) {}

  private final Map<String, Value> values = new HashMap<>();
  private final List<Line> lines = new ArrayList<>();
  private int depth;

  private ConfigPrinter(List<Value> values) {
    values.forEach(value -> this.values.put(value.path(), value));
  }

  /**
   * The text of a configuration.
   *
   * @param values its values, defaults that are to be seen among them
   */
  static String print(Message config, List<Value> values, boolean withOrigins) {
    ConfigPrinter printer = new ConfigPrinter(values);
    printer.walk(ConfigNode.root(config, new ConfigSource.Text("")), "");
    return withOrigins ? printer.withComments() : printer.withoutComments();
  }

  @Override
  boolean isShown(ConfigNode node, FieldDescriptor field, String path) {
    return values.containsKey(path);
  }

  @Override
  void begin(FieldDescriptor field, String path) {
    add(field.getName() + " {", "");
    depth++;
  }

  @Override
  void end() {
    depth--;
    add("}", "");
  }

  @Override
  void value(ConfigNode node, FieldDescriptor field, int index, String path, String text) {
    boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
    String line = field.getName() + (message ? " " : ": ") + text;
    Value value = values.get(path);
    add(line, value == null ? "" : origin(value));
  }

  private void add(String text, String comment) {
    lines.add(new Line("  ".repeat(depth) + text, comment));
  }

  private static String origin(Value value) {
    return switch (value.origin()) {
      case FILE -> value.place().substring(value.place().indexOf('/') + 1);
      case OVERRIDE -> "given with the load";
      case MODEL -> "the model";
      case DEFAULT -> "default";
      case CODE -> "the program";
      case OPTION -> ParameterReader.option(value.path());
    };
  }

  private String withoutComments() {
    StringBuilder text = new StringBuilder();
    lines.forEach(line -> text.append(line.text).append('\n'));
    return text.toString();
  }

  private String withComments() {
    int column =
        lines.stream()
            .filter(line -> !line.comment.isEmpty())
            .mapToInt(line -> line.text.length())
            .filter(length -> length <= LAST_COLUMN)
            .max()
            .orElse(0);
    StringBuilder text = new StringBuilder();
    for (Line line : lines) {
      text.append(line.text);
      if (!line.comment.isEmpty()) {
        text.repeat(' ', Math.max(0, column - line.text.length())).append("  # ");
        text.append(line.comment);
      }
      text.append('\n');
    }
    return text.toString();
  }
}
