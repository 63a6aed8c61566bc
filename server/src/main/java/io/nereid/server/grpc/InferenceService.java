package io.nereid.server.grpc;

import io.grpc.ServerServiceDefinition;
import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.GrpcService;
import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.RepositoryIndexRequest;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryStatusRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.server.shared.ServerState;

/**
 * The table of the inference service: the methods of the Open Inference Protocol and of Triton's
 * extensions, and the code that answers each.
 */
final class InferenceService {

  /** The service's full name. */
  static final String NAME = MethodGroups.INFERENCE_SERVICE;

  private InferenceService() {}

  /** The service with only the methods that carry tensors. */
  static ServerServiceDefinition ofTensors(InferenceCalls inference) {
    return tensors(inference).definition();
  }

  private static ServiceMethods tensors(InferenceCalls inference) {
    return new ServiceMethods(
            NAME, () -> GrpcService.getDescriptor().findServiceByName("GRPCInferenceService"))
        .add(inference.modelInfer())
        .add(inference.modelStreamInfer());
  }

  /** The service with all its methods; {@code inference} has those that carry tensors. */
  static ServerServiceDefinition of(ServerState state, InferenceCalls inference) {
    ServiceMethods methods = tensors(inference);
    addServer(methods, new ServerMethods(state));
    addModels(methods, new ModelMethods(state.nereid()));
    addRepository(methods, new RepositoryMethods(state.nereid().repository()));
    addMemory(methods, new SharedMemoryMethods(state.sharedMemory(), state.cudaMemory()));
    return methods.definition();
  }

  private static void addServer(ServiceMethods methods, ServerMethods server) {
    methods
        .add("ServerLive", ServerLiveRequest.getDefaultInstance(), server::live)
        .add("ServerReady", ServerReadyRequest.getDefaultInstance(), server::ready)
        .add("ModelReady", ModelReadyRequest.getDefaultInstance(), server::modelReady)
        .add("ServerMetadata", ServerMetadataRequest.getDefaultInstance(), server::metadata)
        .add("TraceSetting", TraceSettingRequest.getDefaultInstance(), server::traceSetting)
        .add("LogSettings", LogSettingsRequest.getDefaultInstance(), server::logSettings);
  }

  private static void addModels(ServiceMethods methods, ModelMethods models) {
    methods
        .add("ModelMetadata", ModelMetadataRequest.getDefaultInstance(), models::metadata)
        .add("ModelConfig", ModelConfigRequest.getDefaultInstance(), models::config)
        .add("ModelStatistics", ModelStatisticsRequest.getDefaultInstance(), models::statistics);
  }

  private static void addRepository(ServiceMethods methods, RepositoryMethods repository) {
    methods
        .add("RepositoryIndex", RepositoryIndexRequest.getDefaultInstance(), repository::index)
        .addForClient(
            "RepositoryModelLoad",
            RepositoryModelLoadRequest.getDefaultInstance(),
            repository::checkAllowed,
            repository::load)
        .addForClient(
            "RepositoryModelUnload",
            RepositoryModelUnloadRequest.getDefaultInstance(),
            repository::unload);
  }

  private static void addMemory(ServiceMethods methods, SharedMemoryMethods memory) {
    methods
        .add(
            "SystemSharedMemoryStatus",
            SystemSharedMemoryStatusRequest.getDefaultInstance(),
            memory::systemStatus)
        .add(
            "SystemSharedMemoryRegister",
            SystemSharedMemoryRegisterRequest.getDefaultInstance(),
            memory::registerSystem)
        .add(
            "SystemSharedMemoryUnregister",
            SystemSharedMemoryUnregisterRequest.getDefaultInstance(),
            memory::unregisterSystem)
        .add(
            "CudaSharedMemoryStatus",
            CudaSharedMemoryStatusRequest.getDefaultInstance(),
            memory::cudaStatus)
        .add(
            "CudaSharedMemoryRegister",
            CudaSharedMemoryRegisterRequest.getDefaultInstance(),
            memory::registerCuda)
        .add(
            "CudaSharedMemoryUnregister",
            CudaSharedMemoryUnregisterRequest.getDefaultInstance(),
            memory::unregisterCuda);
  }
}
