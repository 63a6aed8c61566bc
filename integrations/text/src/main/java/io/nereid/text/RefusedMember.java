package io.nereid.text;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;

/** A request that is refused because of one member of its JSON. */
final class RefusedMember extends NereidException {

  private static final long serialVersionUID = 1L;

  private final String member;

  /** {@code member} is null if no member is at fault. */
  RefusedMember(StatusCode code, String member, String message) {
    super(code, message);
    this.member = member;
  }

  /** Throws because of a member unless {@code holds}. */
  static void check(boolean holds, String member, String otherwise) {
    if (!holds) {
      throw new RefusedMember(StatusCode.INVALID_ARGUMENT, member, otherwise);
    }
  }

  /** The member at fault; null: none. */
  String member() {
    return member;
  }
}
