package io.nereid.internal.config;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormatParseInfoTree;
import com.google.protobuf.TextFormatParseLocation;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of a configuration, with where it is written. The message may hold more than what is
 * written: what the model told, and defaults.
 *
 * @param message the message
 * @param written the same as it is written; none for a message that is not written
 * @param source what it is written in
 * @param place where the message itself is, such as {@code m/config.pbtxt:3:1}
 */
record ConfigNode(
    Message message, WrittenMessages.Member written, ConfigSource source, String place) {

  static ConfigNode root(Message message, TextFormatParseInfoTree places, ConfigSource source) {
    WrittenMessages.Member written =
        new WrittenMessages.Member(WrittenMessages.of(message, places), 0);
    return new ConfigNode(message, written, source, source.shown());
  }

  /** A message of which nothing is written. */
  static ConfigNode root(Message message, ConfigSource source) {
    return new ConfigNode(message, WrittenMessages.Member.NONE, source, source.shown());
  }

  /** The same places for a message that holds more. */
  ConfigNode withMessage(Message completed) {
    return new ConfigNode(completed, written, source, place);
  }

  <M extends Message> M as(Class<M> type) {
    return type.cast(message);
  }

  /** The messages of a repeated field. */
  List<ConfigNode> children(int number) {
    FieldDescriptor field = field(number);
    List<ConfigNode> children = new ArrayList<>();
    for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
      children.add(child(field, i));
    }
    return children;
  }

  /** The message of a field. */
  ConfigNode child(int number) {
    return child(field(number), 0);
  }

  ConfigNode child(FieldDescriptor field, int element) {
    Message value = WrittenMessages.element(message, field, element);
    if (!isWritten(field, element)) {
      return new ConfigNode(value, WrittenMessages.Member.NONE, source, place);
    }
    WrittenMessages.Member child = written.all().child(written.index(), field, element);
    return new ConfigNode(value, child, source, place(field, element));
  }

  // ---- Entries of map fields, which are messages with a key and a value -------------------------

  private static final int KEY = 1;
  private static final int VALUE = 2;

  /** An entry's key, in words: keys here are strings and unsigned numbers. */
  String key() {
    return key(message, field(KEY));
  }

  static String key(Message entry, FieldDescriptor key) {
    return entry.getField(key) instanceof Long number
        ? Long.toUnsignedString(number)
        : entry.getField(key).toString();
  }

  /** An entry's value that is a message. */
  ConfigNode entryValue() {
    return child(VALUE);
  }

  /** An entry's value that is text. */
  String entryText() {
    return (String) message.getField(field(VALUE));
  }

  private FieldDescriptor field(int number) {
    return message.getDescriptorForType().findFieldByNumber(number);
  }

  /** Whether a field is written, also when that is its default. */
  boolean isWritten(int number) {
    return isWritten(field(number), 0);
  }

  boolean isWritten(FieldDescriptor field, int element) {
    return written.all().isWritten(written.index(), field, element);
  }

  /** Where a value of a field is; of a list that is written in brackets, the list's beginning. */
  String place(FieldDescriptor field, int element) {
    TextFormatParseLocation found = written.all().location(written.index(), field, element);
    return found.equals(TextFormatParseLocation.EMPTY) ? place : source.place(found);
  }

  /** For a value that cannot be used. */
  NereidException invalid(int number, int index, String text) {
    return failure(StatusCode.INVALID_ARGUMENT, place(field(number), index), text);
  }

  /** For a value that cannot be used. */
  NereidException invalid(int number, String text) {
    return invalid(number, 0, text);
  }

  /** For what is wrong with the message as a whole. */
  NereidException invalid(String text) {
    return failure(StatusCode.INVALID_ARGUMENT, place, text);
  }

  static NereidException failure(StatusCode code, String place, String text) {
    return new NereidException(code, place + ": " + ModelFiles.printable(text));
  }
}
