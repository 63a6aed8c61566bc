package io.nereid.server.http;

import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Refusal;

/** Refuses HTTP requests that the access control does not allow. */
final class AccessCheck {

  private AccessCheck() {}

  /** Throws if a request may not be made; called before its body is read. */
  static void admit(AccessControl access, ProtocolHead head) {
    if (access.isOpen() || head.route().endpoint().isPublic()) {
      return;
    }
    Refusal refusal = access.check(head.route().endpoint().group(), head::field).orElse(null);
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
