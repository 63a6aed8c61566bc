package io.nereid.server.http;

/**
 * A text at a path of its own, on a port that serves nothing else. Called by connections' threads.
 */
public interface Page {

  /** Where it is. */
  String path();

  /** What kind of text it is, as Content-Type has it. */
  String contentType();

  /** The text as it is now. */
  byte[] bytes();
}
