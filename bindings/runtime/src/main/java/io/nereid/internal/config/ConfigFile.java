package io.nereid.internal.config;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.TextFormat;
import com.google.protobuf.TextFormatParseInfoTree;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses {@code config.pbtxt}, remembering where each field is written. */
final class ConfigFile {

  /** Far above any real one; the parsed form takes a multiple of it. */
  static final int MAX_BYTES = 1 << 20;

  /** One list may have so many elements: inputs, outputs, steps, entries of a map, dims. */
  static final int MAX_ELEMENTS = 4096;

  /** Characters of a key. */
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

  private ConfigFile() {}

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
      // The parser's own checks have holes, and the text may be anything.
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
    ConfigNode root = ConfigNode.root(config.build(), places.build(), source);
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

  /** Refuses configurations that only somebody makes who wants to keep the server busy. */
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
