package io.nereid.server.http.seam;

import io.helidon.webserver.CloseConnectionException;

/**
 * Thrown when the client closed the connection in the middle of a request. Helidon passes the
 * exception on and ends the connection, without a reply.
 */
public final class ClientGoneException extends CloseConnectionException {

  private static final long serialVersionUID = 1L;

  /** Makes the exception with the text that the log shows. */
  public ClientGoneException() {
    super("the client closed the connection");
  }

  @Override
  public Throwable fillInStackTrace() {
    return this; // no stack trace for an everyday event
  }
}
