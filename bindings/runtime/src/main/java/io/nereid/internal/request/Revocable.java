package io.nereid.internal.request;

/** A user's handle that is closed in the user's stead when the runtime closes. */
public interface Revocable {

  /** Closes it; does nothing when it is closed. */
  void revoke();
}
