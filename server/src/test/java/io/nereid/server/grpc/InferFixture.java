package io.nereid.server.grpc;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.Backend;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A server with a client that infers. Closing it checks that it gave all memory back. */
public final class InferFixture implements AutoCloseable {

  static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The method that infers once. */
  public static final MethodDescriptor<ModelInferRequest, ModelInferResponse> INFER =
      GrpcFixture.method(
          InferenceService.NAME + "/ModelInfer",
          MethodType.UNARY,
          ModelInferRequest.getDefaultInstance(),
          ModelInferResponse.getDefaultInstance());

  static final MethodDescriptor<ModelInferRequest, ModelStreamInferResponse> STREAM =
      GrpcFixture.method(
          InferenceService.NAME + "/ModelStreamInfer",
          MethodType.BIDI_STREAMING,
          ModelInferRequest.getDefaultInstance(),
          ModelStreamInferResponse.getDefaultInstance());

  private final Nereid nereid;
  private final ServerState state;
  private final GrpcServer server;
  private final ManagedChannel channel;

  InferFixture() {
    this(NereidOptions.builder());
  }

  InferFixture(NereidOptions.Builder options) {
    this(options, new Tracing(TraceOptions.OFF));
  }

  InferFixture(NereidOptions.Builder options, Tracing tracing) {
    nereid = Nereid.create(options.drainTimeout(Duration.ofSeconds(10)).build());
    state = ServerState.builder(nereid).allowClientShm(true).tracing(tracing).build();
    server = GrpcServer.start(state, GrpcOptions.DEFAULT);
    channel = newChannel();
  }

  ManagedChannel newChannel() {
    return NettyChannelBuilder.forAddress("127.0.0.1", server.port())
        .usePlaintext()
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
  }

  Nereid nereid() {
    return nereid;
  }

  ServerState state() {
    return state;
  }

  int port() {
    return server.port();
  }

  ManagedChannel channel() {
    return channel;
  }

  // ---- Models ----------------------------------------------------------------------------------

  InferFixture load(ModelSpec.Builder model) {
    nereid.load(model.build());
    return this;
  }

  /** Loads a model that answers OUT with its input IN, of any rank-2 shape. */
  InferFixture identity(String name, DataType type) {
    return load(
        ModelSpec.builder(name)
            .backend("identity")
            .input("IN", type, -1, -1)
            .output("OUT", type, -1, -1));
  }

  /** Loads "gate", whose requests wait until the backend lets them through. */
  InferFixture gate(Backend gate) {
    return load(
        ModelSpec.builder("gate")
            .backend(gate)
            .inline(false)
            .dynamicBatching(DynamicBatching.builder().build())
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1));
  }

  /** Loads the bundled decoupled backend. */
  InferFixture repeat() {
    return load(repeatModel());
  }

  static ModelSpec.Builder repeatModel() {
    return ModelSpec.builder("repeat")
        .backend("repeat")
        .decoupled(true)
        .input("IN", DataType.INT32, -1)
        .input("DELAY", DataType.UINT32, -1)
        .input("WAIT", DataType.UINT32, 1)
        .output("OUT", DataType.INT32, 1)
        .output("IDX", DataType.UINT32, 1);
  }

  long successes(String model) {
    Model loaded = nereid.model(model);
    return loaded.statistics().success().count();
  }

  // ---- Requests --------------------------------------------------------------------------------

  static InferInputTensor.Builder input(String name, String datatype, long... shape) {
    InferInputTensor.Builder input =
        InferInputTensor.newBuilder().setName(name).setDatatype(datatype);
    for (long dim : shape) {
      input.addShape(dim);
    }
    return input;
  }

  /** A request with the values as a row of FP32, raw. */
  static ModelInferRequest.Builder floats(String model, float... values) {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return ModelInferRequest.newBuilder()
        .setModelName(model)
        .addInputs(input("IN", "FP32", 1, values.length))
        .addRawInputContents(ByteString.copyFrom(bytes));
  }

  static float firstFloat(ModelInferResponse response) {
    return response
        .getRawOutputContents(0)
        .asReadOnlyByteBuffer()
        .order(ByteOrder.LITTLE_ENDIAN)
        .getFloat();
  }

  static InferParameter parameter(boolean value) {
    return InferParameter.newBuilder().setBoolParam(value).build();
  }

  public static InferParameter parameter(long value) {
    return InferParameter.newBuilder().setInt64Param(value).build();
  }

  public static InferParameter parameter(String value) {
    return InferParameter.newBuilder().setStringParam(value).build();
  }

  // ---- Calls -----------------------------------------------------------------------------------

  ModelInferResponse infer(ModelInferRequest.Builder request) {
    return infer(request, patient());
  }

  ModelInferResponse infer(ModelInferRequest.Builder request, CallOptions options) {
    return ClientCalls.blockingUnaryCall(channel, INFER, options, request.build());
  }

  static CallOptions patient() {
    return CallOptions.DEFAULT.withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Makes a call that fails, and checks how. */
  void fails(Status.Code code, String message, ModelInferRequest.Builder request) {
    try {
      infer(request);
    } catch (StatusRuntimeException e) {
      String description = String.valueOf(e.getStatus().getDescription());
      if (e.getStatus().getCode() != code || !description.contains(message)) {
        throw new AssertionError("expected " + code + " with '" + message + "', got " + e, e);
      }
      return;
    }
    throw new AssertionError("expected " + code + " with '" + message + "', got a response");
  }

  // ---- The end ---------------------------------------------------------------------------------

  void awaitNoLiveBuffers() {
    await(() -> nereid.poolStatistics().liveBuffers() == 0, "buffers are still in use");
  }

  /** A condition that comes true by itself. */
  interface Condition {
    boolean holds();
  }

  static void await(Condition condition, String otherwise) {
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.holds()) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new AssertionError(otherwise);
      }
      LockSupport.parkNanos(2_000_000);
    }
  }

  @Override
  public void close() {
    try {
      awaitNoLiveBuffers();
    } finally {
      channel.shutdownNow();
      server.stop(Duration.ofSeconds(10));
      nereid.close();
      server.close();
      state.tracing().close(PATIENCE);
    }
  }
}
