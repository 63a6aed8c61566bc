package io.nereid.server.access;

/**
 * The reason why a request may not be made.
 *
 * @param kind what is missing
 * @param message what the client is told
 * @param field the header field that decides
 */
public record Refusal(Kind kind, String message, String field) {

  /** The thing that is missing. */
  public enum Kind {
    /** The header field that the group wants. */
    RESTRICTED,
    /** A token that is known. */
    UNAUTHENTICATED,
    /** The token is known, and does not grant the group. */
    NOT_GRANTED
  }
}
