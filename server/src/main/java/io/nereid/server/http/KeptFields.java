package io.nereid.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * Names of header fields whose values a request keeps, although HTTP itself has no use for them.
 */
final class KeptFields {

  private final byte[][] names; // in lower case

  private KeptFields(byte[][] names) {
    this.names = names;
  }

  /** Null for no names: then nothing has to be compared. */
  static KeptFields of(Set<String> lowerCaseNames) {
    return lowerCaseNames.isEmpty()
        ? null
        : new KeptFields(
            lowerCaseNames.stream()
                .map(name -> name.getBytes(StandardCharsets.ISO_8859_1))
                .toArray(byte[][]::new));
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
