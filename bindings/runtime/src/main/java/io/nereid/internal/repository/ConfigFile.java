package io.nereid.internal.repository;

import com.google.protobuf.TextFormat;
import com.google.protobuf.TextFormatParseInfoTree;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses {@code config.pbtxt}, remembering where each field is written. */
final class ConfigFile {

  /** Far above any real one; the parsed form takes a multiple of it. */
  static final int MAX_BYTES = 1 << 20;

  private static final int MAX_DEPTH = 32;

  private static final Pattern UNKNOWN_FIELD =
      Pattern.compile(
          "unknown fields and/or extensions:\\s+(?<place>\\d+:\\d+):\\s+"
              + "(?:inference\\.)?(?<message>\\S+)\\.(?<field>[^.\\s]+)");

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
    ConfigLimits.check(root);
    return root;
  }

  /** The parser's message begins with "line:column: ", which an editor can follow. */
  private static NereidException malformed(String shown, TextFormat.ParseException cause) {
    // Unknown fields come as a list over several lines: the first one is enough.
    Matcher unknown = UNKNOWN_FIELD.matcher(cause.getMessage());
    String message =
        unknown.find()
            ? unknown.group("place")
                + ": "
                + unknown.group("message")
                + " has no field '"
                + unknown.group("field")
                + "'"
            : cause.getMessage();
    NereidException failure =
        new NereidException(
            StatusCode.INVALID_ARGUMENT, shown + ":" + ModelFiles.printable(message));
    failure.initCause(cause);
    return failure;
  }
}
