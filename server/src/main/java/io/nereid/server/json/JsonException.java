package io.nereid.server.json;

/**
 * A text that is no JSON, or not the JSON that was expected. Its message is meant for whoever sent
 * the text. It carries no stack trace: such texts are an everyday event.
 */
public final class JsonException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** With what is told to the sender. */
  public JsonException(String message) {
    super(message, null, false, false);
  }

  /** A member whose value is not what it should be. */
  public static JsonException malformed(String member, String found) {
    return new JsonException("Unable to parse '" + member + "': " + found);
  }

  /** An object that lacks a member. */
  public static JsonException missing(String member) {
    return malformed(member, "attempt to access non-existing object member '" + member + "'");
  }
}
