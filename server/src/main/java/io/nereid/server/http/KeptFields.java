package io.nereid.server.http;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * Names of header fields whose values a request keeps, although HTTP itself has no use for them.
 */
final class KeptFields {

  /** None. */
  static final KeptFields NONE = of(Set.of(), Set.of());

  private final byte[][] always; // in lower case
  private final byte[][] ofChanges; // these among them

  private KeptFields(byte[][] always, byte[][] ofChanges) {
    this.always = always;
    this.ofChanges = ofChanges;
  }

  /**
   * With names in lower case.
   *
   * @param always kept of every request
   * @param ofChanges kept beside those, of requests for an {@link Endpoint#isChange}
   */
  static KeptFields of(Set<String> always, Set<String> ofChanges) {
    Set<String> all = new HashSet<>(always);
    all.addAll(ofChanges);
    return new KeptFields(bytes(always), bytes(all));
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
