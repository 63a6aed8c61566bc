package io.nereid.internal.repository;

import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.List;
import java.util.Map;

/** Refuses configurations that only somebody makes who wants to keep the server busy. */
final class ConfigLimits {

  /** Of one list: inputs, outputs, steps, entries of a map, dims. */
  static final int MAX_ELEMENTS = 4096;

  /** Characters of a key. */
  static final int MAX_KEY_LENGTH = 4096;

  private ConfigLimits() {}

  static void check(ConfigNode node) {
    for (Map.Entry<FieldDescriptor, Object> entry : node.message().getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      int count = field.isRepeated() ? ((List<?>) entry.getValue()).size() : 1;
      if (count > MAX_ELEMENTS) {
        throw node.invalid(
            field.getNumber(),
            "expected at most " + MAX_ELEMENTS + " times " + field.getName() + ", got " + count);
      }
      if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        for (int i = 0; i < count; i++) {
          check(node.child(field, i));
        }
      } else if (ConfigValues.isKey(field)) {
        checkKey(node, field, entry.getValue().toString());
      }
    }
  }

  private static void checkKey(ConfigNode node, FieldDescriptor field, String key) {
    if (key.length() > MAX_KEY_LENGTH) {
      throw node.invalid(
          field.getNumber(),
          "expected a key of at most " + MAX_KEY_LENGTH + " characters, got " + key.length());
    }
  }
}
