package io.nereid.client;

import com.google.protobuf.MessageLite;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
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

/** The methods of the service that the client calls. */
final class GrpcMethods {

  static final MethodDescriptor<ServerLiveRequest, ServerLiveResponse> SERVER_LIVE =
      unary("ServerLive", ServerLiveResponse.getDefaultInstance());
  static final MethodDescriptor<ServerReadyRequest, ServerReadyResponse> SERVER_READY =
      unary("ServerReady", ServerReadyResponse.getDefaultInstance());
  static final MethodDescriptor<ModelReadyRequest, ModelReadyResponse> MODEL_READY =
      unary("ModelReady", ModelReadyResponse.getDefaultInstance());
  static final MethodDescriptor<ServerMetadataRequest, ServerMetadataResponse> SERVER_METADATA =
      unary("ServerMetadata", ServerMetadataResponse.getDefaultInstance());
  static final MethodDescriptor<ModelMetadataRequest, ModelMetadataResponse> MODEL_METADATA =
      unary("ModelMetadata", ModelMetadataResponse.getDefaultInstance());
  static final MethodDescriptor<ModelConfigRequest, ModelConfigResponse> MODEL_CONFIG =
      unary("ModelConfig", ModelConfigResponse.getDefaultInstance());
  static final MethodDescriptor<ModelStatisticsRequest, ModelStatisticsResponse> STATISTICS =
      unary("ModelStatistics", ModelStatisticsResponse.getDefaultInstance());
  static final MethodDescriptor<RepositoryIndexRequest, RepositoryIndexResponse> INDEX =
      unary("RepositoryIndex", RepositoryIndexResponse.getDefaultInstance());
  static final MethodDescriptor<RepositoryModelLoadRequest, RepositoryModelLoadResponse> LOAD =
      unary("RepositoryModelLoad", RepositoryModelLoadResponse.getDefaultInstance());
  static final MethodDescriptor<RepositoryModelUnloadRequest, RepositoryModelUnloadResponse>
      UNLOAD = unary("RepositoryModelUnload", RepositoryModelUnloadResponse.getDefaultInstance());
  static final MethodDescriptor<SystemSharedMemoryStatusRequest, SystemSharedMemoryStatusResponse>
      SHARED_MEMORY_STATUS =
          unary("SystemSharedMemoryStatus", SystemSharedMemoryStatusResponse.getDefaultInstance());
  static final MethodDescriptor<
          SystemSharedMemoryRegisterRequest, SystemSharedMemoryRegisterResponse>
      SHARED_MEMORY_REGISTER =
          unary(
              "SystemSharedMemoryRegister",
              SystemSharedMemoryRegisterResponse.getDefaultInstance());
  static final MethodDescriptor<
          SystemSharedMemoryUnregisterRequest, SystemSharedMemoryUnregisterResponse>
      SHARED_MEMORY_UNREGISTER =
          unary(
              "SystemSharedMemoryUnregister",
              SystemSharedMemoryUnregisterResponse.getDefaultInstance());

  static final MethodDescriptor<TraceSettingRequest, TraceSettingResponse> TRACE_SETTING =
      unary("TraceSetting", TraceSettingResponse.getDefaultInstance());
  static final MethodDescriptor<LogSettingsRequest, LogSettingsResponse> LOG_SETTINGS =
      unary("LogSettings", LogSettingsResponse.getDefaultInstance());

  private GrpcMethods() {}

  /** ModelInfer with replies in memory of the pool. */
  static MethodDescriptor<GrpcRequest, GrpcReply> infer(MemoryPool pool) {
    return method(
        "ModelInfer",
        MethodType.UNARY,
        GrpcMarshallers.requests(),
        GrpcMarshallers.replies(pool, GrpcReplyScanner::infer));
  }

  /** ModelStreamInfer with replies in memory of the pool. */
  static MethodDescriptor<GrpcRequest, GrpcReply> streamInfer(MemoryPool pool) {
    return method(
        "ModelStreamInfer",
        MethodType.BIDI_STREAMING,
        GrpcMarshallers.requests(),
        GrpcMarshallers.replies(pool, GrpcReplyScanner::stream));
  }

  @SuppressWarnings("unchecked") // a message's own parser makes such messages
  private static <Q extends MessageLite, R extends MessageLite> MethodDescriptor<Q, R> unary(
      String name, R reply) {
    return method(
        name,
        MethodType.UNARY,
        GrpcMarshallers.sending(),
        (Marshaller<R>) GrpcMarshallers.receiving(reply.getParserForType()));
  }

  private static <Q, R> MethodDescriptor<Q, R> method(
      String name, MethodType type, Marshaller<Q> requests, Marshaller<R> replies) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(
            MethodDescriptor.generateFullMethodName("inference.GRPCInferenceService", name))
        .setRequestMarshaller(requests)
        .setResponseMarshaller(replies)
        .build();
  }
}
