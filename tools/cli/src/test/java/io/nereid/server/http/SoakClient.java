package io.nereid.server.http;

/** Does one thing to the server of a {@link Soak} again and again. For one thread. */
@FunctionalInterface
interface SoakClient {

  /**
   * Does it once.
   *
   * @throws Exception when a connection broke that the server should have kept
   * @throws AssertionError when the server did not do what it should
   */
  void converse() throws Exception;
}
