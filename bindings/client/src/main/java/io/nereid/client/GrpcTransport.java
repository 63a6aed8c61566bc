package io.nereid.client;

import com.google.protobuf.MessageLite;
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
import io.nereid.client.Call.Attempt;
import io.nereid.client.Call.Limit;
import io.nereid.client.ClientOptions.Compression;
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
import io.nereid.types.StatusCode;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Speaks the protocol over gRPC: one channel, whose own threads send requests and read replies. */
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
    long connectMs = Math.max(1, Math.min(options.connectTimeout().toMillis(), Integer.MAX_VALUE));
    // No executor, since all callbacks on the channel's threads are short.
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

  /** Throws for a header that the transport would silently leave out. */
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
    return call(
        "ServerLive",
        ServerLiveResponse.getDefaultInstance(),
        request,
        limit,
        ServerLiveResponse::getLive);
  }

  @Override
  public Attempt<Boolean> serverReady(Limit limit) {
    ServerReadyRequest request = ServerReadyRequest.getDefaultInstance();
    return call(
        "ServerReady",
        ServerReadyResponse.getDefaultInstance(),
        request,
        limit,
        ServerReadyResponse::getReady);
  }

  /** Asks whether a model is ready; some servers fail the call for an unknown model. */
  @Override
  public Attempt<Boolean> modelReady(String model, String version, Limit limit) {
    ModelReadyRequest request =
        ModelReadyRequest.newBuilder().setName(model).setVersion(version).build();
    Attempt<Boolean> attempt =
        call(
            "ModelReady",
            ModelReadyResponse.getDefaultInstance(),
            request,
            limit,
            ModelReadyResponse::getReady);
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
    return call(
        "ServerMetadata",
        ServerMetadataResponse.getDefaultInstance(),
        request,
        limit,
        reply -> ServerReplies.server(GrpcMessages.members(reply)));
  }

  @Override
  public Attempt<ModelMetadata> modelMetadata(String model, String version, Limit limit) {
    ModelMetadataRequest request =
        ModelMetadataRequest.newBuilder().setName(model).setVersion(version).build();
    return call(
        "ModelMetadata",
        ModelMetadataResponse.getDefaultInstance(),
        request,
        limit,
        reply -> ServerReplies.model(GrpcMessages.members(reply)));
  }

  @Override
  public Attempt<String> modelConfig(String model, String version, Limit limit) {
    ModelConfigRequest request =
        ModelConfigRequest.newBuilder().setName(model).setVersion(version).build();
    return call(
        "ModelConfig",
        ModelConfigResponse.getDefaultInstance(),
        request,
        limit,
        GrpcMessages::config);
  }

  @Override
  public Attempt<List<ModelUsage>> statistics(String model, String version, Limit limit) {
    ModelStatisticsRequest request =
        ModelStatisticsRequest.newBuilder().setName(model).setVersion(version).build();
    return call(
        "ModelStatistics",
        ModelStatisticsResponse.getDefaultInstance(),
        request,
        limit,
        reply -> ServerReplies.statistics(GrpcMessages.members(reply)));
  }

  // ---- The model repository --------------------------------------------------------------------

  @Override
  public Attempt<List<IndexedModel>> repositoryIndex(boolean readyOnly, Limit limit) {
    RepositoryIndexRequest request =
        RepositoryIndexRequest.newBuilder().setReady(readyOnly).build();
    return call(
        "RepositoryIndex",
        RepositoryIndexResponse.getDefaultInstance(),
        request,
        limit,
        GrpcMessages::index);
  }

  @Override
  public Attempt<Void> loadModel(
      String model, Optional<String> config, Map<String, byte[]> files, Limit limit) {
    RepositoryModelLoadRequest request = GrpcMessages.load(model, config, files);
    RepositoryModelLoadResponse none = RepositoryModelLoadResponse.getDefaultInstance();
    return call("RepositoryModelLoad", none, request, limit, reply -> null);
  }

  @Override
  public Attempt<Void> unloadModel(String model, boolean dependents, Limit limit) {
    RepositoryModelUnloadRequest request = GrpcMessages.unload(model, dependents);
    RepositoryModelUnloadResponse none = RepositoryModelUnloadResponse.getDefaultInstance();
    return call("RepositoryModelUnload", none, request, limit, reply -> null);
  }

  // ---- Shared memory ---------------------------------------------------------------------------

  @Override
  public Attempt<Void> registerSharedMemory(SharedMemory.Registration region, Limit limit) {
    SystemSharedMemoryRegisterRequest request = GrpcMessages.register(region);
    SystemSharedMemoryRegisterResponse none =
        SystemSharedMemoryRegisterResponse.getDefaultInstance();
    return call("SystemSharedMemoryRegister", none, request, limit, reply -> null);
  }

  @Override
  public Attempt<Void> unregisterSharedMemory(String name, Limit limit) {
    SystemSharedMemoryUnregisterRequest request =
        SystemSharedMemoryUnregisterRequest.newBuilder().setName(name).build();
    return call(
        "SystemSharedMemoryUnregister",
        SystemSharedMemoryUnregisterResponse.getDefaultInstance(),
        request,
        limit,
        reply -> null);
  }

  @Override
  public Attempt<List<SharedMemory.Registration>> sharedMemoryStatus(Limit limit) {
    SystemSharedMemoryStatusRequest request = SystemSharedMemoryStatusRequest.getDefaultInstance();
    return call(
        "SystemSharedMemoryStatus",
        SystemSharedMemoryStatusResponse.getDefaultInstance(),
        request,
        limit,
        GrpcMessages::sharedMemory);
  }

  // ---- Settings --------------------------------------------------------------------------------

  @Override
  public Call.Starter<Map<String, List<String>>> traceSettings(
      String model, Map<String, List<String>> changes) {
    TraceSettingRequest request = GrpcMessages.traceChanges(model, changes);
    return limit ->
        call(
            "TraceSetting",
            TraceSettingResponse.getDefaultInstance(),
            request,
            limit,
            GrpcMessages::traceSettings);
  }

  @Override
  public Call.Starter<Map<String, Object>> logSettings(Map<String, Object> changes) {
    LogSettingsRequest request = GrpcMessages.logChanges(changes);
    return limit ->
        call(
            "LogSettings",
            LogSettingsResponse.getDefaultInstance(),
            request,
            limit,
            GrpcMessages::logSettings);
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
    MemoryPool.Outgoing outgoing = new MemoryPool.Outgoing(pool);
    GrpcRequest message = GrpcRequest.of(request, outgoing);
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
    return InferStream.open(newCall(stream, compressed(Limit.NONE)), freshHeaders(), pool);
  }

  // ---- Calls -----------------------------------------------------------------------------------

  private <Q extends MessageLite, R extends MessageLite, T> Attempt<T> call(
      String method, R reply, Q request, Limit limit, Function<R, T> reader) {
    return GrpcUnaryCall.start(
        newCall(GrpcMethods.unary(method, reply), bounded(limit)),
        freshHeaders(),
        request,
        reader,
        () -> {});
  }

  private static CallOptions bounded(Limit limit) {
    return limit.isSet()
        ? CallOptions.DEFAULT.withDeadlineAfter(limit.remainingNs(), TimeUnit.NANOSECONDS)
        : CallOptions.DEFAULT;
  }

  /** The options of a call that carries tensors. */
  private CallOptions compressed(Limit limit) {
    CallOptions options = bounded(limit);
    return compression == Compression.NONE
        ? options
        : options.withCompression(compression.coding());
  }

  private <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    // Else a call would fail because the broken connection is retried only after a while.
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      channel.resetConnectBackoff();
    }
    return channel.newCall(method, options);
  }

  /** Returns a copy of the headers, since a call adds to them. */
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
