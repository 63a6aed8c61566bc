package io.nereid.stores;

import java.io.IOException;

/** A store's answer that is no use, with its status. Messages name the object and no secret. */
final class StoreException extends IOException {

  private static final long serialVersionUID = 1;

  private final int status;

  StoreException(int status, String message) {
    super(message);
    this.status = status;
  }

  int status() {
    return status;
  }

  /** True if asking again may help. */
  boolean isTemporary() {
    return status >= 500 || status == 429 || status == 408;
  }

  /** True if there is no such object. */
  boolean isMissing() {
    return status == 404;
  }
}
