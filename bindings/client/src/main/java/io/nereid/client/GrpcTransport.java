package io.nereid.client;

import io.nereid.types.StatusCode;
import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ModelRepositoryParameter;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.RepositoryIndexRequest;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.ServerReadyResponse;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryStatusRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.TraceSettingRequest;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The protocol over gRPC. */
final class GrpcTransport implements Transport {

  private static final long MOST_IDLE_BYTES = 64 << 20;

  private final Metadata headers;
  private final Compression compression;
  private final ManagedChannel channel;
  private final MemoryPool pool = new MemoryPool(MOST_IDLE_BYTES);
  private final MethodDescriptor<GrpcRequest, GrpcReply> infer = GrpcMethods.infer(pool);
  private final MethodDescriptor<GrpcRequest, GrpcReply> stream = GrpcMethods.streamInfer(pool);

  GrpcTransport(URI server, ClientOptions options, boolean tls) {
    String path = server.getRawPath();
    if (server.getPort() < 0 || path != null && !path.isEmpty() && !path.equals("/")) {
      throw new IllegalArgumentException(
          "expected an address such as 'grpc://localhost:8001', got '" + server + "'");
    }
    headers = headers(options);
    compression = options.requestCompression();
    if (compression == Compression.DEFLATE) {
      throw new IllegalArgumentException("expected GZIP or NONE over gRPC, got DEFLATE");
    }
    long connectMs = Math.clamp(options.connectTimeout().toMillis(), 1, Integer.MAX_VALUE);
    // Nothing that its threads run here takes long, so none of it needs an executor.
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(
                server.getHost(), server.getPort(), credentials(options.tls(), tls))
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) connectMs)
            .maxInboundMessageSize(options.maxResponseBytes())
            .directExecutor();
    options
        .keepAlive()
        .ifPresent(times ->
            builder
                .keepAliveTime(times.silence().toMillis(), TimeUnit.MILLISECONDS)
                .keepAliveTimeout(times.timeout().toMillis(), TimeUnit.MILLISECONDS));
    channel = builder.build();
  }

  private static Metadata headers(ClientOptions options) {
    Metadata metadata = new Metadata();
    options
        .headers()
        .forEach((name, value) -> {
          checkHeader(name, value);
          metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        });
    return metadata;
  }

  /** The transport would leave such a header out, and say so in a log only. */
  private static void checkHeader(String name, String value) {
    if (!value.chars().allMatch(c -> c >= ' ' && c <= '~')) { // not shown: it may be a secret
      throw new IllegalArgumentException(
          "expected printable ASCII as the value of header '" + name + "', got other characters");
    }
  }

  private static ChannelCredentials credentials(TlsOptions options, boolean tls) {
    if (!tls) {
      return InsecureChannelCredentials.create();
    }
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    if (options.trusted().isPresent()) {
      builder.trustManager(Tls.trustManagers(options));
    }
    if (options.certificate().isPresent()) {
      builder.keyManager(Tls.keyManagers(options));
    }
    return builder.build();
  }

  // ---- Health and metadata ---------------------------------------------------------------------

  @Override
  public Attempt<Boolean> serverLive(Limit limit) {
    ServerLiveRequest request = ServerLiveRequest.getDefaultInstance();
    return call(GrpcMethods.SERVER_LIVE, request, limit, ServerLiveResponse::getLive);
  }

  @Override
  public Attempt<Boolean> serverReady(Limit limit) {
    ServerReadyRequest request = ServerReadyRequest.getDefaultInstance();
    return call(GrpcMethods.SERVER_READY, request, limit, ServerReadyResponse::getReady);
  }

  /** Some servers fail the call for a model they do not know. */
  @Override
  public Attempt<Boolean> modelReady(String model, String version, Limit limit) {
    ModelReadyRequest request =
        ModelReadyRequest.newBuilder().setName(model).setVersion(version).build();
    Attempt<Boolean> attempt =
        call(GrpcMethods.MODEL_READY, request, limit, ModelReadyResponse::getReady);
    CompletableFuture<Boolean> future =
        attempt
            .future()
            .exceptionally(failure -> {
              InferenceException known = Call.describe(failure);
              if (known.code() == StatusCode.NOT_FOUND) {
                return false;
              }
              throw known;
            });
    return new Attempt<>(future, attempt.cancel());
  }

  @Override
  public Attempt<ServerMetadata> serverMetadata(Limit limit) {
    ServerMetadataRequest request = ServerMetadataRequest.getDefaultInstance();
    return call(GrpcMethods.SERVER_METADATA, request, limit, GrpcMetadata::server);
  }

  @Override
  public Attempt<ModelMetadata> modelMetadata(String model, String version, Limit limit) {
    ModelMetadataRequest request =
        ModelMetadataRequest.newBuilder().setName(model).setVersion(version).build();
    return call(GrpcMethods.MODEL_METADATA, request, limit, GrpcMetadata::model);
  }

  @Override
  public Attempt<String> modelConfig(String model, String version, Limit limit) {
    ModelConfigRequest request =
        ModelConfigRequest.newBuilder().setName(model).setVersion(version).build();
    return call(
        GrpcMethods.MODEL_CONFIG,
        request,
        limit,
        reply -> {
          JsonWriter json = new JsonWriter();
          ProtoJson.write(reply.getConfig(), json);
          return new String(json.array(), 0, json.size(), StandardCharsets.UTF_8);
        });
  }

  @Override
  public Attempt<List<ModelStatistics>> statistics(String model, String version, Limit limit) {
    ModelStatisticsRequest request =
        ModelStatisticsRequest.newBuilder().setName(model).setVersion(version).build();
    return call(GrpcMethods.STATISTICS, request, limit, GrpcMetadata::statistics);
  }

  // ---- The model repository --------------------------------------------------------------------

  @Override
  public Attempt<List<ModelIndexEntry>> repositoryIndex(boolean readyOnly, Limit limit) {
    RepositoryIndexRequest request =
        RepositoryIndexRequest.newBuilder().setReady(readyOnly).build();
    return call(GrpcMethods.INDEX, request, limit, GrpcMetadata::index);
  }

  @Override
  public Attempt<Void> loadModel(String model, ModelLoad load, Limit limit) {
    RepositoryModelLoadRequest.Builder request =
        RepositoryModelLoadRequest.newBuilder().setModelName(model);
    load.config()
        .ifPresent(config ->
            request.putParameters(
                "config", ModelRepositoryParameter.newBuilder().setStringParam(config).build()));
    load.files()
        .forEach((path, content) ->
            request.putParameters(
                "file:" + path,
                ModelRepositoryParameter.newBuilder()
                    .setBytesParam(ByteString.copyFrom(content))
                    .build()));
    return call(GrpcMethods.LOAD, request.build(), limit, reply -> null);
  }

  @Override
  public Attempt<Void> unloadModel(String model, boolean dependents, Limit limit) {
    RepositoryModelUnloadRequest.Builder request =
        RepositoryModelUnloadRequest.newBuilder().setModelName(model);
    if (dependents) {
      request.putParameters(
          "unload_dependents", ModelRepositoryParameter.newBuilder().setBoolParam(true).build());
    }
    return call(GrpcMethods.UNLOAD, request.build(), limit, reply -> null);
  }

  // ---- Shared memory ---------------------------------------------------------------------------

  @Override
  public Attempt<Void> registerSharedMemory(SharedMemoryStatus region, Limit limit) {
    SystemSharedMemoryRegisterRequest request =
        SystemSharedMemoryRegisterRequest.newBuilder()
            .setName(region.name())
            .setKey(region.key())
            .setOffset(region.offset())
            .setByteSize(region.byteSize())
            .build();
    return call(GrpcMethods.SHARED_MEMORY_REGISTER, request, limit, reply -> null);
  }

  @Override
  public Attempt<Void> unregisterSharedMemory(String name, Limit limit) {
    SystemSharedMemoryUnregisterRequest request =
        SystemSharedMemoryUnregisterRequest.newBuilder().setName(name).build();
    return call(GrpcMethods.SHARED_MEMORY_UNREGISTER, request, limit, reply -> null);
  }

  @Override
  public Attempt<List<SharedMemoryStatus>> sharedMemoryStatus(Limit limit) {
    SystemSharedMemoryStatusRequest request = SystemSharedMemoryStatusRequest.getDefaultInstance();
    return call(GrpcMethods.SHARED_MEMORY_STATUS, request, limit, GrpcMetadata::sharedMemory);
  }

  // ---- Settings --------------------------------------------------------------------------------

  @Override
  public Call.Starter<Map<String, List<String>>> traceSettings(
      String model, Map<String, List<String>> changes) {
    TraceSettingRequest request = ServerSettings.traceMessage(model, changes);
    return limit -> call(GrpcMethods.TRACE_SETTING, request, limit, ServerSettings::trace);
  }

  @Override
  public Call.Starter<Map<String, Object>> logSettings(Map<String, Object> changes) {
    LogSettingsRequest request = ServerSettings.logMessage(changes);
    return limit -> call(GrpcMethods.LOG_SETTINGS, request, limit, ServerSettings::log);
  }

  // ---- Inference -------------------------------------------------------------------------------

  @Override
  public Call.Starter<Map<String, Object>> generate(
      String model, String version, Map<String, Object> request) {
    throw onlyOverHttp();
  }

  @Override
  public GenerateStream generateStream(String model, String version, Map<String, Object> request) {
    throw onlyOverHttp();
  }

  private static InferenceException onlyOverHttp() {
    return new InferenceException(
        StatusCode.UNIMPLEMENTED, "generate is only to be had over HTTP; over gRPC use openStream");
  }

  @Override
  public Call.Starter<InferResponse> infer(InferRequest request) {
    Outgoing outgoing = new Outgoing(pool);
    GrpcRequest message = GrpcInferRequest.of(request, outgoing);
    return limit ->
        GrpcUnaryCall.start(
            newCall(infer, compressed(limit)),
            freshHeaders(),
            message,
            reply -> GrpcInferReply.read(request, reply),
            outgoing::close);
  }

  @Override
  public InferStream openStream() {
    return GrpcStream.open(newCall(stream, compressed(Limit.NONE)), freshHeaders(), pool);
  }

  // ---- Calls -----------------------------------------------------------------------------------

  private <Q, R, T> Attempt<T> call(
      MethodDescriptor<Q, R> method, Q request, Limit limit, Function<R, T> reader) {
    return GrpcUnaryCall.start(
        newCall(method, bounded(limit)), freshHeaders(), request, reader, () -> {});
  }

  private static CallOptions bounded(Limit limit) {
    return limit.isSet()
        ? CallOptions.DEFAULT.withDeadlineAfter(limit.remainingNs(), TimeUnit.NANOSECONDS)
        : CallOptions.DEFAULT;
  }

  /** Of a call that carries tensors. */
  private CallOptions compressed(Limit limit) {
    CallOptions options = bounded(limit);
    return compression == Compression.NONE
        ? options
        : options.withCompression(compression.coding());
  }

  private <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    // Else a call would fail for a connection that is not even tried again for a while.
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      channel.resetConnectBackoff();
    }
    return channel.newCall(method, options);
  }

  /** A call adds to its headers. */
  private Metadata freshHeaders() {
    Metadata fresh = new Metadata();
    fresh.merge(headers);
    return fresh;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
