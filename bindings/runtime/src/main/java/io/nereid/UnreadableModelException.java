package io.nereid;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;

/**
 * A model could not be loaded because what its repository has of it cannot be read or understood.
 * Frontends tell it from a model that was read and whose backend failed.
 */
public final class UnreadableModelException extends NereidException {

  private static final long serialVersionUID = 1L;

  UnreadableModelException(StatusCode code, String message) {
    super(code, message);
  }

  UnreadableModelException(StatusCode code, String message, Throwable cause) {
    super(code, message, cause);
  }
}
