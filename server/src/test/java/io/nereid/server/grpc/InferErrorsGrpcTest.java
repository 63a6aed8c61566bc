package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static io.nereid.server.grpc.InferFixture.input;
import static io.nereid.server.grpc.InferFixture.parameter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.nereid.NereidOptions;
import io.nereid.proto.InferParameter;
import io.nereid.proto.InferTensorContents;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.http.GateBackend;
import io.nereid.types.DataType;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Errors that clients get, and that nothing is left behind. */
class InferErrorsGrpcTest {

  private final GateBackend gate = new GateBackend();
  private InferFixture server;

  @BeforeEach
  void start() {
    server = new InferFixture().identity("m", DataType.FP32).gate(gate).repeat();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static ModelInferRequest.Builder typed(InferTensorContents.Builder contents) {
    return ModelInferRequest.newBuilder()
        .setModelName("m")
        .addInputs(input("IN", "FP32", 1, 2).setContents(contents));
  }

  private void invalid(String message, ModelInferRequest.Builder request) {
    server.fails(Code.INVALID_ARGUMENT, message, request);
  }

  @Test
  void modelsThatAreNotThere() {
    server.fails(Code.NOT_FOUND, "Request for unknown model: 'x' is not found", floats("x", 1));
    server.fails(
        Code.NOT_FOUND,
        "Request for unknown model: 'm' version 99 is not found",
        floats("m", 1).setModelVersion("99"));
    for (String version : List.of("1.5", "0", "-1", "a", "99999999999999999999")) {
      invalid(
          "failed to get model version from specified version string '" + version + "'",
          floats("m", 1).setModelVersion(version));
    }
    server.nereid().model("m").unload();
    server.fails(Code.NOT_FOUND, "'m' has no available versions", floats("m", 1));
  }

  @Test
  void inputsThatTheModelDoesNotTake() {
    invalid("expected 1 inputs but got 0 inputs", ModelInferRequest.newBuilder().setModelName("m"));
    invalid(
        "unexpected inference input 'X' for model 'm'",
        floats("m", 1).setInputs(0, input("X", "FP32", 1, 1)));
    invalid(
        "inference input 'IN' data-type is 'INT32', but model 'm' expects 'FP32'",
        floats("m", 1).setInputs(0, input("IN", "INT32", 1, 1)));
    invalid("unexpected datatype 'FP31'", floats("m", 1).setInputs(0, input("IN", "FP31", 1, 1)));
    invalid("unexpected shape for input", floats("m", 1).setInputs(0, input("IN", "FP32", 1)));
    invalid(
        "dimensions must not be negative", floats("m", 1).setInputs(0, input("IN", "FP32", -1, 1)));
    invalid(
        "causes total element count to exceed maximum size of 9223372036854775807",
        floats("m", 1).setInputs(0, input("IN", "FP32", 16, (1L << 60) + 2)));
    invalid(
        "byte size overflow for input",
        floats("m", 1).setInputs(0, input("IN", "FP32", 1, (1L << 61) + 2)));
    invalid(
        "input 'IN' already exists in request",
        floats("m", 1).addInputs(input("IN", "FP32", 1, 1)).addRawInputContents(bytes(4)));
    invalid(
        "at most 8 dimensions",
        floats("m", 1).setInputs(0, input("IN", "FP32", 1, 1, 1, 1, 1, 1, 1, 1, 1)));
  }

  private static ByteString bytes(int count) {
    return ByteString.copyFrom(new byte[count]);
  }

  @Test
  void contentsThatDoNotFit() {
    invalid(
        "input byte size mismatch for input 'IN' for model 'm'. Expected 8, got 12",
        floats("m", 1, 2, 3).setInputs(0, input("IN", "FP32", 1, 2)));
    invalid(
        "the number of inputs (1) does not match the expected number of raw input contents (2)",
        floats("m", 1).addRawInputContents(bytes(4)));
    invalid(
        "the number of inputs (2) does not match the expected number of raw input contents (1)",
        floats("m", 1).addInputs(input("IN2", "FP32", 1, 1)));
    invalid(
        "unable to find data for input tensor 'IN' for model 'm' in request",
        ModelInferRequest.newBuilder().setModelName("m").addInputs(input("IN", "FP32", 1, 1)));
    invalid(
        "contents field must not be specified when using raw_input_contents for 'IN'",
        typed(InferTensorContents.newBuilder().addFp32Contents(1).addFp32Contents(2))
            .addRawInputContents(bytes(8)));
    invalid(
        "of type 'BOOL', expected datatype 'FP32'",
        typed(InferTensorContents.newBuilder().addBoolContents(true)));
    invalid(
        "binary data was already supplied",
        typed(
            InferTensorContents.newBuilder()
                .addBoolContents(true)
                .addFp32Contents(1)
                .addFp32Contents(2)));
    invalid(
        "Expected 8, got 12",
        typed(InferTensorContents.newBuilder().addAllFp32Contents(List.of(1f, 2f, 3f))));
    invalid("Expected 8, got 4", typed(InferTensorContents.newBuilder().addFp32Contents(1)));
    // A shape that says much more than there is takes no memory.
    invalid(
        "got 8",
        typed(InferTensorContents.newBuilder().addFp32Contents(1).addFp32Contents(2))
            .setInputs(
                0,
                input("IN", "FP32", 1, 1L << 40)
                    .setContents(
                        InferTensorContents.newBuilder().addFp32Contents(1).addFp32Contents(2))));
  }

  @Test
  void outputsAndParametersThatAreWrong() {
    InferRequestedOutputTensor.Builder out = InferRequestedOutputTensor.newBuilder().setName("OUT");
    invalid(
        "unexpected inference output 'X' for model 'm'",
        floats("m", 1).addOutputs(out.clone().setName("X")));
    invalid(
        "output 'OUT' already exists in request", floats("m", 1).addOutputs(out).addOutputs(out));
    invalid(
        "invalid value for 'classification' parameter, expected >= 0",
        floats("m", 1).addOutputs(out.clone().putParameters("classification", parameter(-1))));
    server.fails(
        Code.NOT_FOUND,
        "Unable to find shared memory region: 'r'",
        floats("m", 1)
            .addOutputs(
                out.clone()
                    .putParameters("shared_memory_region", parameter("r"))
                    .putParameters("shared_memory_byte_size", parameter(4))));
    invalid(
        "parameter keys starting with 'triton_' are reserved",
        floats("m", 1).putParameters("triton_x", parameter(1)));
    invalid(
        "invalid value type for 'timeout' parameter",
        floats("m", 1).putParameters("timeout", parameter("1")));
    invalid(
        "invalid value type for 'priority' parameter",
        floats("m", 1).putParameters("priority", parameter(true)));
    invalid(
        "invalid value type for 'sequence_start' parameter",
        floats("m", 1).putParameters("sequence_start", parameter(1)));
    invalid(
        "invalid value type for 'p' parameter",
        floats("m", 1).putParameters("p", InferParameter.getDefaultInstance()));
  }

  @Test
  void decoupledModelsHaveNoSingleResponse() {
    server.fails(
        Code.UNIMPLEMENTED,
        "ModelInfer RPC doesn't support models with decoupled transaction policy",
        StreamInferTest.repeat(1, 0));
  }

  @Test
  void bytesThatAreNoMessage() {
    MethodDescriptor<byte[], ModelInferResponse> method =
        InferFixture.INFER.toBuilder(
                new BytesMarshaller(), InferFixture.INFER.getResponseMarshaller())
            .build();
    for (byte[] bytes : List.of(new byte[] {0}, new byte[] {10, 100}, new byte[] {10, 1, -1})) {
      StatusRuntimeException failure =
          assertThrows(
              StatusRuntimeException.class,
              () ->
                  ClientCalls.blockingUnaryCall(
                      server.channel(), method, InferFixture.patient(), bytes));
      assertEquals(Code.INVALID_ARGUMENT, failure.getStatus().getCode());
      assertTrue(
          failure.getStatus().getDescription().startsWith("failed to parse the request: "),
          failure.getStatus().getDescription());
    }
  }

  /** A part takes two bytes on the wire, and many times that in memory. */
  @Test
  void messagesOfVeryManyParts() {
    ModelInferRequest.Builder inputs = floats("m", 1);
    ModelInferRequest.Builder outputs = floats("m", 1);
    ModelInferRequest.Builder contents = floats("m", 1);
    for (int i = 0; i < WireReader.PART_LIMIT; i++) {
      inputs.addInputs(InferInputTensor.getDefaultInstance());
      outputs.addOutputs(InferRequestedOutputTensor.getDefaultInstance());
      contents.addRawInputContents(ByteString.EMPTY);
    }
    for (ModelInferRequest.Builder request : List.of(inputs, outputs, contents)) {
      invalid("it has more than 65536 inputs, outputs and parameters", request);
    }
    invalid(
        "a shape has more than 64 dimensions",
        floats("m", 1).setInputs(0, input("IN", "FP32", new long[1 << 20])));
    server.infer(floats("m", 1));
  }

  @Test
  void aPoolThatIsFullIsNotWaitedFor() {
    try (InferFixture small =
        new InferFixture(NereidOptions.builder().poolByteLimit(1 << 20))
            .identity("m", DataType.FP32)) {
      float[] values = new float[1 << 19];
      small.fails(Code.RESOURCE_EXHAUSTED, "", floats("m", values));
      small.infer(floats("m", 1));
    }
  }

  // ---- Deadlines and cancelling ----------------------------------------------------------------

  private Future<ModelInferResponse> call(CallOptions options, float value) {
    return ClientCalls.futureUnaryCall(
        server.channel().newCall(InferFixture.INFER, options), floats("gate", value).build());
  }

  private long pending() {
    return server.nereid().model("gate").statistics().pendingCount();
  }

  @Test
  void aDeadlineReachesTheQueue() throws Exception {
    Future<ModelInferResponse> executing = call(CallOptions.DEFAULT, 1);
    gate.awaitBatch();
    boolean waited = false;
    for (int seconds = 1; !waited && seconds < 60; seconds *= 2) { // a busy machine may need some
      Future<ModelInferResponse> waiting =
          call(CallOptions.DEFAULT.withDeadlineAfter(seconds, TimeUnit.SECONDS), 2);
      while (!waited && !waiting.isDone()) {
        waited = pending() == 1;
        Thread.sleep(1);
      }
      assertThrows(ExecutionException.class, waiting::get);
    }
    assertTrue(waited, "it does not wait");
    InferFixture.await(() -> pending() == 0, "its deadline did not take it out of the queue");
    gate.open(1);
    assertEquals(1f, InferFixture.firstFloat(executing.get()));
    assertEquals(1, server.nereid().model("gate").statistics().executionCount());
  }

  @Test
  void aRequestCancelledInTheQueueNeverExecutes() throws Exception {
    Future<ModelInferResponse> executing = call(InferFixture.patient(), 1);
    gate.awaitBatch();
    Future<ModelInferResponse> waiting = call(InferFixture.patient(), 2);
    InferFixture.await(() -> pending() == 1, "it does not wait");
    waiting.cancel(true);
    InferFixture.await(() -> pending() == 0, "it was not taken out of the queue");
    executing.cancel(true);
    InferFixture.await(
        () -> server.nereid().model("gate").statistics().executingCount() == 1, "it executes");
    gate.open(1);
    server.awaitNoLiveBuffers();
    assertEquals(1, server.nereid().model("gate").statistics().failCancelled());
  }
}
