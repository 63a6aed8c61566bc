package io.nereid.internal.repository;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Where a value is in JSON. It is kept as steps that values have in common: there is one for every
 * value, and keys may be long.
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
