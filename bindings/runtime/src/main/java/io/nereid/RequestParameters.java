package io.nereid;

import io.nereid.internal.Checks;
import java.math.BigInteger;

/** What requests may say beside their tensors. */
final class RequestParameters {

  private static final String RESERVED_PREFIX = "triton_";

  private RequestParameters() {}

  static void check(String key, Object value) {
    if (Checks.notNull(key, "key").startsWith(RESERVED_PREFIX)) {
      throw Signature.invalid(
          "parameter keys starting with '"
              + RESERVED_PREFIX
              + "' are reserved for Triton usage and should not be specified.");
    }
    boolean valid =
        switch (value) {
          case Boolean b -> true;
          case String s -> true;
          case Byte b -> true;
          case Short s -> true;
          case Integer i -> true;
          case Long l -> true;
          case Float f -> true;
          case Double d -> true;
          case BigInteger i -> i.signum() >= 0 && i.bitLength() <= Long.SIZE;
          case null, default -> false;
        };
    if (!valid) {
      throw Signature.invalid(
          "parameter '"
              + key
              + "' has invalid type. It should be either 'int', 'bool', or 'string'.");
    }
  }
}
