package io.nereid.client;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What the body of an error reply says; every kind of server has its own form. */
final class ErrorText {

  private static final int MOST_CHARACTERS = 2000;

  private ErrorText() {}

  static String of(int status, byte[] body, int length) {
    String text = new String(body, 0, length, StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      return "the server answered with status " + status + " and no reason";
    }
    String message = text.startsWith("{") ? ofJson(body, length) : null;
    return shortened(message == null ? "status " + status + ": " + text : message);
  }

  /** Null: it is no JSON, or none that has a message. */
  private static String ofJson(byte[] body, int length) {
    Object tree;
    try {
      tree = JsonReading.tree(body, length);
    } catch (InferenceException e) {
      return null;
    }
    return tree instanceof Map<?, ?> members ? message(members) : null;
  }

  private static String message(Map<?, ?> members) {
    for (String name : new String[] {"error", "detail", "message"}) {
      Object value = members.get(name);
      if (value instanceof Map<?, ?> nested) {
        String inner = message(nested);
        return inner == null ? nested.toString() : inner;
      }
      if (value != null) {
        return value.toString();
      }
    }
    return null;
  }

  static String shortened(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "...";
  }
}
