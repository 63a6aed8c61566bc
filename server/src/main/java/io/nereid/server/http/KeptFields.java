package io.nereid.server.http;

import io.nereid.server.shared.HeaderForwarding;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;

/**
 * Header fields whose values a request keeps, although HTTP itself has no use for them: those of
 * certain names, and those that become parameters.
 */
final class KeptFields {

  private final byte[][] names; // in lower case
  private final HeaderForwarding forwarding; // null: no field becomes a parameter

  private KeptFields(byte[][] names, HeaderForwarding forwarding) {
    this.names = names;
    this.forwarding = forwarding;
  }

  /** Null for none: then nothing has to be compared. */
  static KeptFields of(Set<String> lowerCaseNames, Optional<HeaderForwarding> forwarding) {
    return lowerCaseNames.isEmpty() && forwarding.isEmpty()
        ? null
        : new KeptFields(
            lowerCaseNames.stream()
                .map(name -> name.getBytes(StandardCharsets.ISO_8859_1))
                .toArray(byte[][]::new),
            forwarding.orElse(null));
  }

  /** The name of a field that becomes a parameter, as it was sent; null when it does not. */
  String findForwarded(byte[] bytes, int offset, int length) {
    if (forwarding == null) {
      return null;
    }
    String name = new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
    return forwarding.matches(name) ? name : null;
  }

  /** The field of that name, in whatever case, in lower case; null when it is not kept. */
  String find(byte[] bytes, int offset, int length) {
    for (byte[] name : names) {
      if (name.length == length && HeaderFields.is(bytes, offset, name)) {
        return new String(name, StandardCharsets.ISO_8859_1);
      }
    }
    return null;
  }
}
