package io.nereid.server.grpc;

import com.google.protobuf.Descriptors.ServiceDescriptor;
import io.grpc.ServerServiceDefinition;
import io.nereid.Nereid;
import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryRegisterResponse;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryStatusResponse;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterResponse;
import io.nereid.proto.GrpcService;
import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.LogSettingsResponse;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelConfigResponse;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.ModelStatisticsResponse;
import io.nereid.proto.RepositoryIndexRequest;
import io.nereid.proto.RepositoryIndexResponse;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelLoadResponse;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.RepositoryModelUnloadResponse;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.ServerReadyResponse;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryRegisterResponse;
import io.nereid.proto.SystemSharedMemoryStatusRequest;
import io.nereid.proto.SystemSharedMemoryStatusResponse;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterResponse;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import io.nereid.server.memory.CudaRegions;
import io.nereid.server.memory.SharedMemoryRegions;
import io.nereid.server.shared.ServerState;

/** The service of the Open Inference Protocol, with Triton's extensions: which method is where. */
final class InferenceService {

  private static final ServiceDescriptor SERVICE =
      GrpcService.getDescriptor().findServiceByName("GRPCInferenceService");

  /** The service's full name. */
  static final String NAME = SERVICE.getFullName();

  private final ServiceMethods methods = new ServiceMethods(SERVICE);

  private InferenceService() {}

  /** With the methods that carry tensors. */
  static ServerServiceDefinition of(ServerState state, InferenceCalls inference) {
    InferenceService service = new InferenceService();
    service.addServer(state);
    service.addModels(state.nereid());
    service.addRepository(state.nereid());
    service.addSystemMemory(state.sharedMemory());
    service.addCudaMemory(state.cudaMemory());
    service.addSettings(state);
    service.addInference(inference);
    return service.methods.definition();
  }

  private void addInference(InferenceCalls calls) {
    methods.add(calls.modelInfer());
    methods.add(calls.modelStreamInfer());
  }

  private void addServer(ServerState state) {
    ServerMethods server = new ServerMethods(state);
    methods.add(
        "ServerLive",
        ServerLiveRequest.getDefaultInstance(),
        ServerLiveResponse.getDefaultInstance(),
        server::live);
    methods.add(
        "ServerReady",
        ServerReadyRequest.getDefaultInstance(),
        ServerReadyResponse.getDefaultInstance(),
        server::ready);
    methods.add(
        "ModelReady",
        ModelReadyRequest.getDefaultInstance(),
        ModelReadyResponse.getDefaultInstance(),
        server::modelReady);
    methods.add(
        "ServerMetadata",
        ServerMetadataRequest.getDefaultInstance(),
        ServerMetadataResponse.getDefaultInstance(),
        server::metadata);
  }

  private void addModels(Nereid nereid) {
    ModelMethods models = new ModelMethods(nereid);
    methods.add(
        "ModelMetadata",
        ModelMetadataRequest.getDefaultInstance(),
        ModelMetadataResponse.getDefaultInstance(),
        models::metadata);
    methods.add(
        "ModelConfig",
        ModelConfigRequest.getDefaultInstance(),
        ModelConfigResponse.getDefaultInstance(),
        models::config);
    methods.add(
        "ModelStatistics",
        ModelStatisticsRequest.getDefaultInstance(),
        ModelStatisticsResponse.getDefaultInstance(),
        models::statistics);
  }

  private void addRepository(Nereid nereid) {
    RepositoryMethods repository = new RepositoryMethods(nereid.repository());
    methods.add(
        "RepositoryIndex",
        RepositoryIndexRequest.getDefaultInstance(),
        RepositoryIndexResponse.getDefaultInstance(),
        repository::index);
    methods.addForClient(
        "RepositoryModelLoad",
        RepositoryModelLoadRequest.getDefaultInstance(),
        RepositoryModelLoadResponse.getDefaultInstance(),
        repository::load);
    methods.addForClient(
        "RepositoryModelUnload",
        RepositoryModelUnloadRequest.getDefaultInstance(),
        RepositoryModelUnloadResponse.getDefaultInstance(),
        repository::unload);
  }

  private void addSystemMemory(SharedMemoryRegions regions) {
    SystemMemoryMethods system = new SystemMemoryMethods(regions);
    methods.add(
        "SystemSharedMemoryStatus",
        SystemSharedMemoryStatusRequest.getDefaultInstance(),
        SystemSharedMemoryStatusResponse.getDefaultInstance(),
        system::status);
    methods.add(
        "SystemSharedMemoryRegister",
        SystemSharedMemoryRegisterRequest.getDefaultInstance(),
        SystemSharedMemoryRegisterResponse.getDefaultInstance(),
        system::register);
    methods.add(
        "SystemSharedMemoryUnregister",
        SystemSharedMemoryUnregisterRequest.getDefaultInstance(),
        SystemSharedMemoryUnregisterResponse.getDefaultInstance(),
        system::unregister);
  }

  private void addSettings(ServerState state) {
    methods.add(
        "TraceSetting",
        TraceSettingRequest.getDefaultInstance(),
        TraceSettingResponse.getDefaultInstance(),
        new TraceMethods(state)::setting);
    methods.add(
        "LogSettings",
        LogSettingsRequest.getDefaultInstance(),
        LogSettingsResponse.getDefaultInstance(),
        new LogMethods(state.log())::settings);
  }

  private void addCudaMemory(CudaRegions regions) {
    CudaMemoryMethods cuda = new CudaMemoryMethods(regions);
    methods.add(
        "CudaSharedMemoryStatus",
        CudaSharedMemoryStatusRequest.getDefaultInstance(),
        CudaSharedMemoryStatusResponse.getDefaultInstance(),
        cuda::status);
    methods.add(
        "CudaSharedMemoryRegister",
        CudaSharedMemoryRegisterRequest.getDefaultInstance(),
        CudaSharedMemoryRegisterResponse.getDefaultInstance(),
        cuda::register);
    methods.add(
        "CudaSharedMemoryUnregister",
        CudaSharedMemoryUnregisterRequest.getDefaultInstance(),
        CudaSharedMemoryUnregisterResponse.getDefaultInstance(),
        cuda::unregister);
  }
}
