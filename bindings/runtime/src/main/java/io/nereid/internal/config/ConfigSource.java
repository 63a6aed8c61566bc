package io.nereid.internal.config;

import com.google.protobuf.TextFormatParseLocation;
import io.nereid.model.ModelConfiguration.Origin;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Where a configuration was written, and how messages name places in it. */
sealed interface ConfigSource {

  /** How messages name the whole. */
  String shown();

  /** What its values are said to come from. */
  Origin origin();

  /** How messages name a place. */
  String place(TextFormatParseLocation location);

  /** Text in a file, or in none: a model without a configuration has no places either. */
  record Text(String shown) implements ConfigSource {
    @Override
    public Origin origin() {
      return Origin.FILE;
    }

    @Override
    public String place(TextFormatParseLocation location) {
      return shown + ":" + (location.getLine() + 1) + ":" + (location.getColumn() + 1);
    }
  }

  /**
   * JSON that came with a request, in text format with one value a line.
   *
   * @param paths for each line, where its value is in the JSON
   */
  record Json(String shown, List<JsonPath> paths) implements ConfigSource {
    @Override
    public Origin origin() {
      return Origin.OVERRIDE;
    }

    @Override
    public String place(TextFormatParseLocation location) {
      return shown + " at " + paths.get(location.getLine());
    }
  }

  /**
   * Where a value is in JSON. It is kept as steps that values have in common: there is one for
   * every value, and keys may be long.
   *
   * @param outer where it is in; null for the whole
   * @param step what leads from there to it, as in messages
   */
  record JsonPath(JsonPath outer, String step) {

    /** The whole. */
    static final JsonPath ROOT = new JsonPath(null, "");

    private static final int MAX_KEY_LENGTH = 80;

    JsonPath field(String name) {
      return new JsonPath(this, this == ROOT ? name : "." + name);
    }

    JsonPath element(int index) {
      return new JsonPath(this, "[" + index + "]");
    }

    JsonPath key(String key) {
      return new JsonPath(this, "[\"" + shortened(key) + "\"]");
    }

    /** A name as messages have it. */
    static String shortened(String name) {
      String start =
          name.length() > MAX_KEY_LENGTH ? name.substring(0, MAX_KEY_LENGTH) + "..." : name;
      return ModelFiles.printable(start);
    }

    @Override
    public String toString() {
      Deque<String> steps = new ArrayDeque<>();
      for (JsonPath path = this; path != null; path = path.outer) {
        steps.push(path.step);
      }
      return String.join("", steps);
    }
  }
}
