package io.nereid.internal.config;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nereid.proto.ModelConfig;
import io.nereid.types.Names;
import java.util.List;

/** Says which fields a message of the configuration has, to somebody who wrote another. */
final class ConfigFields {

  private ConfigFields() {}

  /** For a field that the message does not have. */
  static String unknown(Descriptor message, String field) {
    List<String> known = message.getFields().stream().map(FieldDescriptor::getName).toList();
    return message.getName() + " has no field '" + field + "'" + Names.hint("it has", field, known);
  }

  /**
   * The same by the message's name as the parser of text has it, such as {@code
   * ModelRateLimiter.Resource}.
   */
  static String unknown(String message, String field) {
    Descriptor found = null;
    for (String part : message.split("\\.")) {
      found =
          found == null
              ? ModelConfig.getDescriptor().getFile().findMessageTypeByName(part)
              : found.findNestedTypeByName(part);
      if (found == null) {
        return message + " has no field '" + field + "'";
      }
    }
    return unknown(found, field);
  }
}
