package io.nereid.server.json;

/**
 * A text that is no JSON, or not the JSON that was expected. Its message is for the sender of the
 * text. It carries no stack trace: such texts are an everyday event.
 */
public final class JsonException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Makes the exception with a message for the sender. */
  public JsonException(String message) {
    super(message, null, false, false);
  }

  /** The exception for a member with a wrong value. */
  public static JsonException malformed(String member, String found) {
    return new JsonException("Unable to parse '" + member + "': " + found);
  }

  /** The exception for an object that lacks a member. */
  public static JsonException missing(String member) {
    return malformed(member, "attempt to access non-existing object member '" + member + "'");
  }
}
