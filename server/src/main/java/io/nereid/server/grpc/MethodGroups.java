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

/** The services' names, and the groups of their methods. Any thread may call it. */
final class MethodGroups {

  static final String INFERENCE_SERVICE = "inference.GRPCInferenceService";
  static final String HEALTH_SERVICE = "grpc.health.v1.Health";

  /** The group of each method of the inference service. */
  private static final Map<String, EndpointGroup> GROUPS =
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

  /** The group of a method. Reflection belongs to metadata, since it describes the server. */
  static EndpointGroup of(MethodDescriptor<?, ?> method) {
    String service = method.getServiceName();
    if (INFERENCE_SERVICE.equals(service)) {
      EndpointGroup group = GROUPS.get(method.getBareMethodName());
      if (group == null) {
        throw new IllegalStateException(method.getFullMethodName() + " is in no group");
      }
      return group;
    }
    return HEALTH_SERVICE.equals(service) ? HEALTH : METADATA;
  }
}
