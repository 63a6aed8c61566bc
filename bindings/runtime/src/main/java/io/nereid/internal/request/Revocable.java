package io.nereid.internal.request;

/** A user's handle that is closed in the user's stead when the runtime closes. */
public interface Revocable {

  /** Closes it; does nothing when it is closed. */
  void revoke();

  /** Where its request was made; null: that is not recorded, or told by another. */
  default Origin origin() {
    return null;
  }
}
