package io.nereid.server.grpc;

import static io.nereid.server.access.EndpointGroup.HEALTH;
import static io.nereid.server.access.EndpointGroup.INFERENCE;
import static io.nereid.server.access.EndpointGroup.LOGGING;
import static io.nereid.server.access.EndpointGroup.METADATA;
import static io.nereid.server.access.EndpointGroup.MODEL_CONFIG;
import static io.nereid.server.access.EndpointGroup.MODEL_REPOSITORY;
import static io.nereid.server.access.EndpointGroup.SHARED_MEMORY;
import static io.nereid.server.access.EndpointGroup.STATISTICS;
import static io.nereid.server.access.EndpointGroup.TRACE;
import static java.util.Map.entry;

import io.grpc.MethodDescriptor;
import io.nereid.server.access.EndpointGroup;
import java.util.Map;

/** Which methods are restricted together. */
final class MethodGroups {

  private static final Map<String, EndpointGroup> INFERENCE_SERVICE =
      Map.ofEntries(
          entry("ServerLive", HEALTH),
          entry("ServerReady", HEALTH),
          entry("ModelReady", HEALTH),
          entry("ServerMetadata", METADATA),
          entry("ModelMetadata", METADATA),
          entry("ModelInfer", INFERENCE),
          entry("ModelStreamInfer", INFERENCE),
          entry("ModelConfig", MODEL_CONFIG),
          entry("ModelStatistics", STATISTICS),
          entry("RepositoryIndex", MODEL_REPOSITORY),
          entry("RepositoryModelLoad", MODEL_REPOSITORY),
          entry("RepositoryModelUnload", MODEL_REPOSITORY),
          entry("SystemSharedMemoryStatus", SHARED_MEMORY),
          entry("SystemSharedMemoryRegister", SHARED_MEMORY),
          entry("SystemSharedMemoryUnregister", SHARED_MEMORY),
          entry("CudaSharedMemoryStatus", SHARED_MEMORY),
          entry("CudaSharedMemoryRegister", SHARED_MEMORY),
          entry("CudaSharedMemoryUnregister", SHARED_MEMORY),
          entry("TraceSetting", TRACE),
          entry("LogSettings", LOGGING));

  private MethodGroups() {}

  /** Reflection tells what the server is, as metadata does. */
  static EndpointGroup of(MethodDescriptor<?, ?> method) {
    String service = method.getServiceName();
    if (InferenceService.NAME.equals(service)) {
      EndpointGroup group = INFERENCE_SERVICE.get(method.getBareMethodName());
      if (group == null) {
        throw new IllegalStateException(method.getFullMethodName() + " is in no group");
      }
      return group;
    }
    return HealthService.NAME.equals(service) ? HEALTH : METADATA;
  }

  /**
   * Whether the answer depends on which models there are, and is not just whether they are there.
   */
  static boolean needsModels(MethodDescriptor<?, ?> method) {
    return switch (of(method)) {
      case HEALTH -> false;
      case METADATA -> "ModelMetadata".equals(method.getBareMethodName());
      default -> true;
    };
  }
}
