package io.nereid.server.grpc;

import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.nereid.server.shared.HeapBudget;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What all calls of a server share.
 *
 * @param methods by their paths
 * @param limits what clients may ask
 * @param keepAlive how long connections live
 * @param compression how replies are compressed, where a call wants that
 * @param unfinished what messages hold that are not complete
 * @param heap what of them may wait on the heap
 * @param log where each call has a line; empty: there is none
 */
record CallContext(
    Map<String, ServerMethodDefinition<?, ?>> methods,
    GrpcLimits limits,
    GrpcKeepAlive keepAlive,
    GrpcCompression compression,
    MessageBudget unfinished,
    HeapBudget heap,
    Optional<CallLog> log) {

  /** The methods of services, by their paths. */
  static Map<String, ServerMethodDefinition<?, ?>> methods(List<ServerServiceDefinition> services) {
    Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();
    for (ServerServiceDefinition service : services) {
      for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
        methods.put("/" + method.getMethodDescriptor().getFullMethodName(), method);
      }
    }
    return methods;
  }
}
