package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.nereid.server.shared.HeaderForwarding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds the metadata of a call that becomes parameters of its requests. */
final class ForwardedMetadata {

  private static final Pattern NAME = Pattern.compile("[0-9a-z_.-]+");

  private ForwardedMetadata() {}

  /** Those of its fields that are text, and whose names gRPC allows: clients may send others. */
  static List<HeaderForwarding.Field> of(Metadata headers, Optional<HeaderForwarding> forwarding) {
    if (forwarding.isEmpty()) {
      return List.of();
    }
    List<HeaderForwarding.Field> fields = new ArrayList<>();
    for (String name : headers.keys()) {
      if (isText(name) && forwarding.get().matches(name)) {
        Metadata.Key<String> key = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
        for (String value : headers.getAll(key)) {
          fields.add(new HeaderForwarding.Field(name, value));
        }
      }
    }
    return fields;
  }

  private static boolean isText(String name) {
    return !name.endsWith(Metadata.BINARY_HEADER_SUFFIX) && NAME.matcher(name).matches();
  }
}
