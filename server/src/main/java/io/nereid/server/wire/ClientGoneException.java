package io.nereid.server.wire;

import java.io.IOException;

/** The client closed the connection in the middle of a request: nobody is there to be told. */
public final class ClientGoneException extends IOException {

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
