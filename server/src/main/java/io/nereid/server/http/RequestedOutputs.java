package io.nereid.server.http;

import io.nereid.InferRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which outputs a request wants, and in which form. */
final class RequestedOutputs {

  /** Those that were asked for, in that order; empty: all. */
  private List<String> names = List.of();

  /** What is said of an output that nothing is said of. */
  private boolean binaryByDefault;

  /** Whether they depend on neither the model nor the state of the server. */
  private boolean plain = true;

  /** By name; there is mostly none or one. */
  private Map<String, RequestedOutput> outputs = Map.of();

  void add(String output) {
    if (names.isEmpty()) {
      names = new ArrayList<>(2);
    }
    names.add(output);
  }

  /** Asks for them. */
  void select(InferRequest request) {
    for (int i = 0; i < names.size(); i++) {
      request.output(names.get(i));
    }
  }

  void binaryByDefault(boolean value) {
    binaryByDefault = value;
  }

  void put(String output, RequestedOutput wanted) {
    plain &= wanted.classification() == null && wanted.slice() == null;
    if (outputs.isEmpty()) {
      outputs = new HashMap<>();
    }
    outputs.put(output, wanted);
  }

  RequestedOutput of(String output) {
    return outputs.getOrDefault(output, RequestedOutput.PLAIN);
  }

  boolean isPlain() {
    return plain;
  }

  boolean isBinary(RequestedOutput wanted) {
    return wanted.binary() == null ? binaryByDefault : wanted.binary();
  }
}
