package io.nereid.server.http;

import io.nereid.server.shared.HeaderForwarding;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Header fields whose values a request keeps, although HTTP itself has no use for them: those of
 * certain names, and those that become parameters.
 */
final class KeptFields {

  /** None. */
  static final KeptFields NONE = of(Set.of(), Set.of(), Optional.empty());

  private final byte[][] always; // in lower case
  private final byte[][] ofChanges; // these among them
  private final HeaderForwarding forwarding; // null: no field becomes a parameter

  private KeptFields(byte[][] always, byte[][] ofChanges, HeaderForwarding forwarding) {
    this.always = always;
    this.ofChanges = ofChanges;
    this.forwarding = forwarding;
  }

  /**
   * With names in lower case.
   *
   * @param always kept of every request
   * @param ofChanges kept beside those, of requests for an {@link Endpoint#isChange}
   * @param forwarding which fields become parameters; empty: none
   */
  static KeptFields of(
      Set<String> always, Set<String> ofChanges, Optional<HeaderForwarding> forwarding) {
    Set<String> all = new HashSet<>(always);
    all.addAll(ofChanges);
    return new KeptFields(bytes(always), bytes(all), forwarding.orElse(null));
  }

  /** The name of a field that becomes a parameter, as it was sent; null when it does not. */
  String findForwarded(byte[] bytes, int offset, int length) {
    if (forwarding == null) {
      return null;
    }
    String name = new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
    return forwarding.matches(name) ? name : null;
  }

  private static byte[][] bytes(Set<String> names) {
    return names.stream()
        .map(name -> name.getBytes(StandardCharsets.ISO_8859_1))
        .toArray(byte[][]::new);
  }

  /**
   * The field of that name, in whatever case, in lower case; null when it is not kept of a request
   * for that.
   */
  String find(Endpoint endpoint, byte[] bytes, int offset, int length) {
    for (byte[] name : endpoint.isChange() ? ofChanges : always) {
      if (name.length == length && HeaderFields.is(bytes, offset, name)) {
        return new String(name, StandardCharsets.ISO_8859_1);
      }
    }
    return null;
  }
}
