package io.nereid.server.wire;

import java.io.IOException;

/**
 * Answers requests of one connection, one after the other: all that is above the wire. Each handler
 * belongs to one {@link HttpExchange}, whose thread calls it, and may keep what it needs for the
 * next request: buffers, readers, what the last request said.
 */
public interface HttpHandler {

  /** A head for the next request, which the wire fills in. */
  RequestHead newHead();

  /** A request begins; nothing of it was read. */
  default void begin() {}

  /** Answers the request whose head was read. What it throws becomes an answer where it can. */
  void answer() throws IOException;

  /** Why the present request fails, for the client, after {@link #answer} threw something else. */
  HttpFailure explain(RuntimeException failure);

  /** Answers that the request failed; its head may not have been read. */
  void fail(HttpFailure failure) throws IOException;

  /** The request is done with, whether it was answered or not. */
  default void end() {}
}
