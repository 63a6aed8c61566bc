package io.nereid.internal.config;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import com.google.protobuf.TextFormatParseInfoTree;
import com.google.protobuf.TextFormatParseLocation;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A message of a configuration, with the place where it is written. It may hold more than the
 * written values: the model's own, and defaults.
 *
 * @param message the message
 * @param written the same as it is written; none for a message that is not written
 * @param source the text that contains it
 * @param place where the message itself is, such as {@code m/config.pbtxt:3:1}
 */
record ConfigNode(
    Message message, WrittenMessages.Member written, ConfigSource source, String place) {

  /** The limit is far above any real configuration; the parsed form takes a multiple. */
  static final int MAX_BYTES = 1 << 20;

  /** The most elements of a list: inputs, outputs, steps, entries of a map, dims. */
  static final int MAX_ELEMENTS = 4096;

  /** The most characters of a key. */
  static final int MAX_KEY_LENGTH = 4096;

  private static final int MAX_DEPTH = 32;

  private static final Pattern UNKNOWN_FIELD =
      Pattern.compile(
          "unknown fields and/or extensions:\\s+(?<place>\\d+:\\d+):\\s+"
              + "(?:inference\\.)?(?<message>\\S+)\\.(?<field>[^.\\s]+)");

  private static final Pattern UNKNOWN_VALUE =
      Pattern.compile(
          "(?<place>\\d+:\\d+): Enum type \"inference\\.(?<type>\\S+)\" has no value named"
              + " \"(?<value>[^\"]+)\"");

  private static ConfigNode root(
      Message message, TextFormatParseInfoTree places, ConfigSource source) {
    WrittenMessages.Member written =
        new WrittenMessages.Member(WrittenMessages.of(message, places), 0);
    return new ConfigNode(message, written, source, source.shown());
  }

  /** Returns a node for a message that is written nowhere. */
  static ConfigNode root(Message message, ConfigSource source) {
    return new ConfigNode(message, WrittenMessages.Member.NONE, source, source.shown());
  }

  /** Returns a node with the same places for a message that holds more. */
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

  /** True if a field is the key of an entry. */
  static boolean isKey(FieldDescriptor field) {
    return field.getContainingType().getOptions().getMapEntry() && field.getNumber() == KEY;
  }

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

  /** True if a field is written, even with its default value. */
  boolean isWritten(int number) {
    return isWritten(field(number), 0);
  }

  boolean isWritten(FieldDescriptor field, int element) {
    return written.all().isWritten(written.index(), field, element);
  }

  /**
   * Returns the place of a field's value; for a list that is written in brackets, the list's
   * beginning.
   */
  String place(FieldDescriptor field, int element) {
    TextFormatParseLocation found = written.all().location(written.index(), field, element);
    return found.equals(TextFormatParseLocation.EMPTY) ? place : source.place(found);
  }

  /** The exception for an element of a field that cannot be used. */
  NereidException invalid(int number, int index, String text) {
    return failure(StatusCode.INVALID_ARGUMENT, place(field(number), index), text);
  }

  /** The exception for a value of a field that cannot be used. */
  NereidException invalid(int number, String text) {
    return invalid(number, 0, text);
  }

  /** The exception for a message that is wrong as a whole. */
  NereidException invalid(String text) {
    return failure(StatusCode.INVALID_ARGUMENT, place, text);
  }

  static NereidException failure(StatusCode code, String place, String text) {
    return new NereidException(code, place + ": " + ModelFiles.printable(text));
  }

  // ---- Parsing ---------------------------------------------------------------------------------

  /**
   * The configuration in a text.
   *
   * @param shown how messages name the file
   */
  static ConfigNode parse(String text, String shown) {
    try {
      return parse(text, new ConfigSource.Text(shown));
    } catch (TextFormat.ParseException e) {
      throw malformed(shown, e);
    } catch (NereidException e) {
      throw e;
    } catch (RuntimeException e) {
      // The parser fails with other exceptions too when the text is arbitrary.
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT, shown + " cannot be parsed as a model configuration", e);
    }
  }

  static ConfigNode parse(String text, ConfigSource source) throws TextFormat.ParseException {
    TextFormatParseInfoTree.Builder places = TextFormatParseInfoTree.builder();
    ModelConfig.Builder config = ModelConfig.newBuilder();
    TextFormat.Parser.newBuilder()
        .setSingularOverwritePolicy(
            TextFormat.Parser.SingularOverwritePolicy.FORBID_SINGULAR_OVERWRITES)
        .setRecursionLimit(MAX_DEPTH)
        .setParseInfoTreeBuilder(places)
        .build()
        .merge(text, config);
    ConfigNode root = root(config.build(), places.build(), source);
    checkLimits(root);
    return root;
  }

  /** The parser's message begins with "line:column: ", which an editor can follow. */
  private static NereidException malformed(String shown, TextFormat.ParseException cause) {
    // Unknown fields come as a list over several lines: the first one is enough.
    Matcher unknown = UNKNOWN_FIELD.matcher(cause.getMessage());
    Matcher value = UNKNOWN_VALUE.matcher(cause.getMessage());
    String message = cause.getMessage();
    if (unknown.find()) {
      message =
          unknown.group("place")
              + ": "
              + ConfigFields.unknown(unknown.group("message"), unknown.group("field"));
    } else if (value.find()) {
      message =
          value.group("place")
              + ": "
              + ConfigFields.unknownValue(value.group("type"), value.group("value"));
    }
    NereidException failure =
        new NereidException(
            StatusCode.INVALID_ARGUMENT, shown + ":" + ModelFiles.printable(message));
    failure.initCause(cause);
    return failure;
  }

  /** Refuses configurations so large that they can only be meant to keep the server busy. */
  private static void checkLimits(ConfigNode node) {
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
          checkLimits(node.child(field, i));
        }
      } else if (isKey(field)) {
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
