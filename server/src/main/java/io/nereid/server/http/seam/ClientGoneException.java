package io.nereid.server.http.seam;

import io.helidon.webserver.CloseConnectionException;

/**
 * The client closed the connection in the middle of a request: nobody is there to be told. Helidon
 * passes it on as it is and ends the connection.
 */
public final class ClientGoneException extends CloseConnectionException {

  private static final long serialVersionUID = 1L;

  /** Makes the exception with the text that the log shows. */
  public ClientGoneException() {
    super("the client closed the connection");
  }

  @Override
  public Throwable fillInStackTrace() {
    return this; // an everyday event
  }
}
