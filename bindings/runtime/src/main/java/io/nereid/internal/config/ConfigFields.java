package io.nereid.internal.config;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nereid.proto.ModelConfig;
import io.nereid.types.Names;
import java.util.List;

/** Writes error messages about unknown fields, which list the fields that a message has. */
final class ConfigFields {

  private ConfigFields() {}

  /** Returns the text about a field that the message does not have. */
  static String unknown(Descriptor message, String field) {
    List<String> known = message.getFields().stream().map(FieldDescriptor::getName).toList();
    return message.getName() + " has no field '" + field + "'" + Names.hint("it has", field, known);
  }

  /**
   * Returns the text about an unknown field, by the message's name as the parser of text has it,
   * such as {@code ModelRateLimiter.Resource}.
   */
  static String unknown(String message, String field) {
    Descriptor found = message(message);
    return found == null ? message + " has no field '" + field + "'" : unknown(found, field);
  }

  /**
   * Returns the text about a name that an enumeration does not have, such as {@code
   * ModelInstanceGroup.Kind}.
   */
  static String unknownValue(String type, String name) {
    int dot = type.lastIndexOf('.');
    Descriptor around = dot < 0 ? null : message(type.substring(0, dot));
    EnumDescriptor found = null;
    if (dot < 0) {
      found = ModelConfig.getDescriptor().getFile().findEnumTypeByName(type);
    } else if (around != null) {
      found = around.findEnumTypeByName(type.substring(dot + 1));
    }
    List<String> known =
        found == null
            ? List.of()
            : found.getValues().stream().map(EnumValueDescriptor::getName).toList();
    return type + " has no value '" + name + "'" + Names.hint("it has", name, known);
  }

  /** A message of the configuration by its name; null: there is none. */
  private static Descriptor message(String name) {
    Descriptor found = null;
    for (String part : name.split("\\.")) {
      found =
          found == null
              ? ModelConfig.getDescriptor().getFile().findMessageTypeByName(part)
              : found.findNestedTypeByName(part);
      if (found == null) {
        return null;
      }
    }
    return found;
  }
}
