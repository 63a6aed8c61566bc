package io.nereid.server.http;

import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Refusal;

/** Lets requests in that may be made. Only there where something is refused at all. */
final class AccessGate {

  private final AccessControl access;

  private AccessGate(AccessControl access) {
    this.access = access;
  }

  /** Null where everybody may do everything. */
  static AccessGate of(AccessControl access) {
    return access.isOpen() ? null : new AccessGate(access);
  }

  /** Fails when the request may not be made; nothing of its body was read. */
  void admit(RequestHead head) {
    Refusal refusal =
        access.check(head.route().endpoint().group(), head.fields()::kept).orElse(null);
    if (refusal == null) {
      return;
    }
    throw switch (refusal.kind()) {
      case RESTRICTED -> new HttpFailure(Status.FORBIDDEN, refusal.message());
      case UNAUTHENTICATED ->
          HttpFailure.withField(
              Status.UNAUTHORIZED, refusal.message(), "WWW-Authenticate", "Bearer");
      case NOT_GRANTED ->
          HttpFailure.withField(
              Status.FORBIDDEN,
              refusal.message(),
              "WWW-Authenticate",
              "Bearer error=\"insufficient_scope\"");
    };
  }
}
