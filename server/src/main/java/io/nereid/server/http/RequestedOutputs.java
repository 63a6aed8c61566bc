package io.nereid.server.http;

import java.util.HashMap;
import java.util.Map;

/** In which form a request wants its outputs. */
final class RequestedOutputs {

  /** What is said of an output that nothing is said of. */
  private boolean binaryByDefault;

  /** By name; there is mostly none or one. */
  private Map<String, RequestedOutput> outputs = Map.of();

  void binaryByDefault(boolean value) {
    binaryByDefault = value;
  }

  void put(String output, RequestedOutput wanted) {
    if (outputs.isEmpty()) {
      outputs = new HashMap<>();
    }
    outputs.put(output, wanted);
  }

  RequestedOutput of(String output) {
    return outputs.getOrDefault(output, RequestedOutput.PLAIN);
  }

  boolean isBinary(RequestedOutput wanted) {
    return wanted.binary() == null ? binaryByDefault : wanted.binary();
  }
}
