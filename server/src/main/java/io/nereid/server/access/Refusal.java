package io.nereid.server.access;

/**
 * The reason why a request may not be made.
 *
 * @param kind the requirement that is not met
 * @param message the text for the client
 * @param field the header field that decides
 */
public record Refusal(Kind kind, String message, String field) {

  /** The requirement that a request does not meet. */
  public enum Kind {
    /** The group's header field is missing or wrong. */
    RESTRICTED,
    /** A valid token is missing. */
    UNAUTHENTICATED,
    /** The token is known, and does not grant the group. */
    NOT_GRANTED
  }
}
