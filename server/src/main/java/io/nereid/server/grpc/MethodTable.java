package io.nereid.server.grpc;

import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The methods of a server by their paths. Those that carry tensors are there from the start; all
 * others are made when a client first asks for one, since their messages are a thousand classes,
 * which a server that only infers never needs. Any thread may ask.
 */
final class MethodTable {

  private final Map<String, ServerMethodDefinition<?, ?>> first;
  private final Supplier<List<ServerServiceDefinition>> others;
  private Map<String, ServerMethodDefinition<?, ?>> rest; // guarded by this; null: not made yet

  /**
   * A table of services.
   *
   * @param first those whose methods are there at once
   * @param others asked for once at most; of what is in both, the first ones' is taken
   */
  MethodTable(List<ServerServiceDefinition> first, Supplier<List<ServerServiceDefinition>> others) {
    this.first = byPath(first);
    this.others = others;
  }

  /** The method of that path; null: there is none. */
  ServerMethodDefinition<?, ?> get(String path) {
    ServerMethodDefinition<?, ?> method = first.get(path);
    return method != null ? method : rest().get(path);
  }

  private synchronized Map<String, ServerMethodDefinition<?, ?>> rest() {
    if (rest == null) {
      rest = byPath(others.get());
    }
    return rest;
  }

  private static Map<String, ServerMethodDefinition<?, ?>> byPath(
      List<ServerServiceDefinition> services) {
    Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();
    for (ServerServiceDefinition service : services) {
      for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
        methods.put("/" + method.getMethodDescriptor().getFullMethodName(), method);
      }
    }
    return methods;
  }
}
