package io.nereid.perf;

import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelConfigResponse;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ModelMetadataResponse.TensorMetadata;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ModelStatistics;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.ModelStatisticsResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryRegisterResponse;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterResponse;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** {@link ServerControl} over gRPC, on a connection of its own. */
final class GrpcControl implements ServerControl {

  private static final long PATIENCE_S = 10;

  private final Target target;
  private final ManagedChannel channel;

  GrpcControl(Target target) {
    this.target = target;
    channel =
        GrpcChannels.builder(target)
            .intercept(MetadataUtils.newAttachHeadersInterceptor(GrpcChannels.headers(target)))
            .build();
  }

  private <R extends Message> R call(String method, Message request, R reply) {
    MethodDescriptor<Message, R> descriptor =
        MethodDescriptor.<Message, R>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(GrpcChannels.SERVICE + "/" + method)
            .setRequestMarshaller(ProtoUtils.marshaller(request))
            .setResponseMarshaller(ProtoUtils.marshaller(reply))
            .build();
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_S, TimeUnit.SECONDS);
    return ClientCalls.blockingUnaryCall(channel, descriptor, options, request);
  }

  private static PerfException refused(String what, StatusRuntimeException e) {
    return new PerfException(what + ": " + e.getMessage(), e);
  }

  @Override
  public ServerInfo server() {
    try {
      ServerMetadataResponse reply =
          call(
              "ServerMetadata",
              ServerMetadataRequest.getDefaultInstance(),
              ServerMetadataResponse.getDefaultInstance());
      return new ServerInfo(
          reply.getName(), reply.getVersion(), List.copyOf(reply.getExtensionsList()));
    } catch (StatusRuntimeException e) {
      throw switch (e.getStatus().getCode()) {
        case UNAUTHENTICATED, PERMISSION_DENIED ->
            refused("the server at " + target + " wants to know who asks (--token-file)", e);
        case UNAVAILABLE, DEADLINE_EXCEEDED -> ServerControl.absent(target, rootCause(e));
        default -> refused("expected a server of the Open Inference Protocol at " + target, e);
      };
    }
  }

  private static Throwable rootCause(Throwable e) {
    return e.getCause() == null ? e : rootCause(e.getCause());
  }

  @Override
  public boolean modelReady() {
    ModelReadyRequest request =
        ModelReadyRequest.newBuilder().setName(target.model()).setVersion(target.version()).build();
    try {
      return call("ModelReady", request, ModelReadyResponse.getDefaultInstance()).getReady();
    } catch (StatusRuntimeException e) {
      return false; // some servers fail the call for a model that they do not know
    }
  }

  @Override
  public ModelInfo model() {
    ModelMetadataRequest request =
        ModelMetadataRequest.newBuilder()
            .setName(target.model())
            .setVersion(target.version())
            .build();
    ModelMetadataResponse reply;
    try {
      reply = call("ModelMetadata", request, ModelMetadataResponse.getDefaultInstance());
    } catch (StatusRuntimeException e) {
      throw refused("expected metadata of model '" + target.model() + "'", e);
    }
    ModelInfo described =
        new ModelInfo(
            target.model(),
            List.copyOf(reply.getVersionsList()),
            reply.getPlatform(),
            reply.getInputsList().stream().map(GrpcControl::tensor).toList(),
            reply.getOutputsList().stream().map(GrpcControl::tensor).toList(),
            OptionalInt.empty(),
            false,
            List.of());
    return config()
        .map(config ->
            described.configured(
                config.getMaxBatchSize(),
                config.getModelTransactionPolicy().getDecoupled(),
                config.getInputList().stream()
                    .filter(ModelInput::getOptional)
                    .map(ModelInput::getName)
                    .toList()))
        .orElse(described);
  }

  private Optional<ModelConfig> config() {
    ModelConfigRequest request =
        ModelConfigRequest.newBuilder()
            .setName(target.model())
            .setVersion(target.version())
            .build();
    try {
      return Optional.of(
          call("ModelConfig", request, ModelConfigResponse.getDefaultInstance()).getConfig());
    } catch (StatusRuntimeException e) {
      return Optional.empty(); // an extension that not every server has
    }
  }

  private static TensorInfo tensor(TensorMetadata tensor) {
    return new TensorInfo(
        tensor.getName(),
        DataType.of(tensor.getDatatype(), tensor.getName()),
        List.copyOf(tensor.getShapeList()));
  }

  @Override
  public Optional<ServerStatistics> statistics() {
    ModelStatisticsRequest request =
        ModelStatisticsRequest.newBuilder()
            .setName(target.model())
            .setVersion(target.version())
            .build();
    try {
      ModelStatisticsResponse reply =
          call("ModelStatistics", request, ModelStatisticsResponse.getDefaultInstance());
      return Optional.of(
          ServerStatistics.sum(
              reply.getModelStatsList().stream().map(GrpcControl::statistics).toList()));
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.UNAVAILABLE) {
        throw ServerControl.absent(target, rootCause(e));
      }
      return Optional.empty();
    }
  }

  private static ServerStatistics statistics(ModelStatistics model) {
    return new ServerStatistics(
        model.getInferenceStats().getSuccess().getCount(),
        model.getInferenceStats().getFail().getCount(),
        model.getInferenceCount(),
        model.getExecutionCount(),
        model.getInferenceStats().getSuccess().getNs(),
        model.getInferenceStats().getQueue().getNs(),
        model.getInferenceStats().getComputeInput().getNs(),
        model.getInferenceStats().getComputeInfer().getNs(),
        model.getInferenceStats().getComputeOutput().getNs(),
        model.getInferenceStats().getCacheHit().getCount());
  }

  @Override
  public void registerMemory(String name, String key, long byteSize) {
    SystemSharedMemoryRegisterRequest request =
        SystemSharedMemoryRegisterRequest.newBuilder()
            .setName(name)
            .setKey(key)
            .setByteSize(byteSize)
            .build();
    try {
      call(
          "SystemSharedMemoryRegister",
          request,
          SystemSharedMemoryRegisterResponse.getDefaultInstance());
    } catch (StatusRuntimeException e) {
      throw refused("the server does not take shared memory (--allow-client-shm of Nereid)", e);
    }
  }

  @Override
  public void unregisterMemory(String name) {
    call(
        "SystemSharedMemoryUnregister",
        SystemSharedMemoryUnregisterRequest.newBuilder().setName(name).build(),
        SystemSharedMemoryUnregisterResponse.getDefaultInstance());
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
