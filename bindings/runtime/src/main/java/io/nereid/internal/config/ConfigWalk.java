package io.nereid.internal.config;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Visits the values of a configuration in the order of its fields; subclasses say what to do with
 * each.
 */
abstract class ConfigWalk {

  private static final TextFormat.Printer VALUES =
      TextFormat.printer().escapingNonAscii(false).emittingSingleLine(true);

  /** True if a value that is its field's default is visited. */
  abstract boolean isShown(ConfigNode node, FieldDescriptor field, String path);

  /** Called at a message that holds values, before these. */
  abstract void begin(FieldDescriptor field, String path);

  abstract void end();

  /** Called for a value, a list of numbers or words, or an empty message. */
  abstract void value(ConfigNode node, FieldDescriptor field, int index, String path, String text);

  final void walk(ConfigNode node, String path) {
    Message message = node.message();
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      String name = path.isEmpty() ? field.getName() : path + "." + field.getName();
      boolean holdsMessages = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
      if (field.isRepeated() && holdsMessages) {
        for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
          message(node, field, i, name + "[" + index(node, field, i) + "]");
        }
      } else if (field.isRepeated()) {
        if (message.getRepeatedFieldCount(field) > 0) {
          value(node, field, 0, name, list(field, (List<?>) message.getField(field)));
        }
      } else if (holdsMessages) {
        if (message.hasField(field)) {
          message(node, field, 0, name);
        }
      } else if (message.hasField(field) || isShown(node, field, name)) {
        value(node, field, 0, name, text(field, message.getField(field)));
      }
    }
  }

  private void message(ConfigNode node, FieldDescriptor field, int index, String path) {
    ConfigNode child = node.child(field, index);
    if (isEmpty(child, path)) {
      value(node, field, index, path, "{ }");
      return;
    }
    begin(field, path);
    walk(child, path);
    end();
  }

  private boolean isEmpty(ConfigNode node, String path) {
    return node.message().getAllFields().isEmpty()
        && node.message().getDescriptorForType().getFields().stream()
            .filter(field -> !field.isRepeated())
            .filter(field -> field.getJavaType() != FieldDescriptor.JavaType.MESSAGE)
            .noneMatch(field -> isShown(node, field, path + "." + field.getName()));
  }

  private static String index(ConfigNode node, FieldDescriptor field, int index) {
    if (!field.isMapField()) {
      return Integer.toString(index);
    }
    ConfigNode entry = node.child(field, index);
    FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
    return text(key, entry.message().getField(key));
  }

  private static String list(FieldDescriptor field, List<?> values) {
    List<String> texts = new ArrayList<>();
    values.forEach(value -> texts.add(text(field, value)));
    return "[ " + String.join(", ", texts) + " ]";
  }

  private static String text(FieldDescriptor field, Object value) {
    StringBuilder text = new StringBuilder();
    try {
      VALUES.printFieldValue(field, value, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a StringBuilder throws none
    }
    return text.toString();
  }
}
