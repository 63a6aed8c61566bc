package io.nereid.internal.config;

import com.google.protobuf.TextFormatParseLocation;
import io.nereid.model.ModelConfiguration.Origin;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The text of a configuration, which names its places for error messages. */
sealed interface ConfigSource {

  /** The name of the whole configuration in messages. */
  String shown();

  /** The origin that the values of the configuration are said to have. */
  Origin origin();

  /** Returns the name of a place for messages. */
  String place(TextFormatParseLocation location);

  /** Text of a file, or no text: a model without a configuration has no places either. */
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
   * The path of a value in JSON. Paths share their first steps: there is a path for every value,
   * and keys may be long.
   *
   * @param outer the path of the object or list around the value; null for the whole document
   * @param step the field, index or key that leads from there to the value, as messages write it
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

    /** Shortens a long name for messages. */
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
