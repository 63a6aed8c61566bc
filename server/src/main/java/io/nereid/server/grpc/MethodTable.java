package io.nereid.server.grpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.HandlerRegistry;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The methods of a server. Methods that carry tensors exist from the start; all others are made
 * when a client first calls one, since their messages are a thousand classes, which a server that
 * only infers never needs. Any thread may call this.
 */
final class MethodTable extends HandlerRegistry {

  private final Map<String, ServerMethodDefinition<?, ?>> first;
  private final Supplier<List<ServerServiceDefinition>> others;

  @GuardedBy("this")
  private List<ServerServiceDefinition> services; // null: not made yet

  @GuardedBy("this")
  private Map<String, ServerMethodDefinition<?, ?>> rest; // the same

  /**
   * A table of services.
   *
   * @param first a service whose methods exist at once
   * @param others all services with all their methods, asked for once at most
   */
  MethodTable(ServerServiceDefinition first, Supplier<List<ServerServiceDefinition>> others) {
    this.first = byName(List.of(first));
    this.others = others;
  }

  @Override
  public ServerMethodDefinition<?, ?> lookupMethod(String method, String authority) {
    ServerMethodDefinition<?, ?> known = first.get(method);
    return known != null ? known : rest().get(method);
  }

  /** True if the client of the method at a path sends one message, or there is no such method. */
  boolean takesOne(CharSequence path) {
    String name = path.isEmpty() ? "" : path.toString().substring(1);
    ServerMethodDefinition<?, ?> method = lookupMethod(name, null);
    return method == null || method.getMethodDescriptor().getType().clientSendsOneMessage();
  }

  @Override
  public synchronized List<ServerServiceDefinition> getServices() {
    rest();
    return services;
  }

  private synchronized Map<String, ServerMethodDefinition<?, ?>> rest() {
    if (rest == null) {
      services = List.copyOf(others.get());
      rest = byName(services);
    }
    return rest;
  }

  private static Map<String, ServerMethodDefinition<?, ?>> byName(
      List<ServerServiceDefinition> services) {
    Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();
    for (ServerServiceDefinition service : services) {
      for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
        methods.put(method.getMethodDescriptor().getFullMethodName(), method);
      }
    }
    return methods;
  }
}
