package io.nereid.internal.repository;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;

/** The entries of map fields, which are messages with a key and a value. */
final class MapEntries {

  private static final int KEY = 1;
  private static final int VALUE = 2;

  private MapEntries() {}

  /** The key, in words: keys here are strings and unsigned numbers. */
  static String key(ConfigNode entry) {
    return key(entry.message(), entry.message().getDescriptorForType().findFieldByNumber(KEY));
  }

  static String key(Message entry, FieldDescriptor key) {
    return entry.getField(key) instanceof Long number
        ? Long.toUnsignedString(number)
        : entry.getField(key).toString();
  }

  /** A value that is a message. */
  static ConfigNode value(ConfigNode entry) {
    return entry.child(VALUE);
  }

  /** A value that is text. */
  static String text(ConfigNode entry) {
    return (String)
        entry.message().getField(entry.message().getDescriptorForType().findFieldByNumber(VALUE));
  }
}
