package io.nereid.server.http;

import java.util.HashMap;
import java.util.Map;

/** In which form a request wants its outputs. */
final class RequestedOutputs {

  /** What is said of an output that nothing is said of. */
  private boolean binaryByDefault;

  /** By name; there is mostly none or one. */
  private Map<String, Boolean> binary = Map.of();

  void binaryByDefault(boolean value) {
    binaryByDefault = value;
  }

  void put(String output, boolean asBinary) {
    if (binary.isEmpty()) {
      binary = new HashMap<>();
    }
    binary.put(output, asBinary);
  }

  boolean isBinary(String output) {
    Boolean said = binary.get(output);
    return said == null ? binaryByDefault : said;
  }
}
