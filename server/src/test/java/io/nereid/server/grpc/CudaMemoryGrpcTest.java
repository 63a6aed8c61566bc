package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.Nereid;
import io.nereid.internal.cuda.CudaDriver;
import io.nereid.model.ModelSpec;
import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryRegisterResponse;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryStatusResponse;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterResponse;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.memory.CudaExporter;
import io.nereid.server.memory.DoublerPlan;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tensors in GPU memory that clients registered, over gRPC. */
class CudaMemoryGrpcTest {

  private static final int BYTES = 2 << 20;

  private static GrpcFixture server() {
    Nereid nereid = Nereid.create();
    nereid.load(
        ModelSpec.builder("m")
            .backend("identity")
            .input("IN", DataType.UINT8, -1)
            .output("OUT", DataType.UINT8, -1)
            .build());
    return new GrpcFixture(
        nereid, ServerState.builder(nereid).allowClientShm(true).build(), GrpcOptions.DEFAULT);
  }

  private static CudaSharedMemoryStatusResponse status(GrpcFixture server) {
    return server.call(
        "CudaSharedMemoryStatus",
        CudaSharedMemoryStatusRequest.getDefaultInstance(),
        CudaSharedMemoryStatusResponse.getDefaultInstance());
  }

  private static void register(GrpcFixture server, byte[] handle) {
    server.call(
        "CudaSharedMemoryRegister",
        CudaSharedMemoryRegisterRequest.newBuilder()
            .setName("r")
            .setRawHandle(ByteString.copyFrom(handle))
            .setDeviceId(0)
            .setByteSize(BYTES)
            .build(),
        CudaSharedMemoryRegisterResponse.getDefaultInstance());
  }

  private static void unregister(GrpcFixture server) {
    server.call(
        "CudaSharedMemoryUnregister",
        CudaSharedMemoryUnregisterRequest.newBuilder().setName("r").build(),
        CudaSharedMemoryUnregisterResponse.getDefaultInstance());
  }

  private static Map<String, InferParameter> region(long offset, long byteSize) {
    return Map.of(
        "shared_memory_region",
        InferParameter.newBuilder().setStringParam("r").build(),
        "shared_memory_offset",
        InferParameter.newBuilder().setInt64Param(offset).build(),
        "shared_memory_byte_size",
        InferParameter.newBuilder().setInt64Param(byteSize).build());
  }

  @Test
  void withoutAGpuTheReasonIsTold() {
    assumeFalse(CudaDriver.isPresent(), "there is a GPU here");
    try (GrpcFixture server = server()) {
      assertEquals(0, status(server).getRegionsCount());
      StatusRuntimeException failure =
          assertThrows(StatusRuntimeException.class, () -> register(server, new byte[64]));
      assertEquals(Status.Code.UNIMPLEMENTED, failure.getStatus().getCode());
      assertEquals(
          "CUDA shared memory is not supported: " + CudaDriver.absence(),
          failure.getStatus().getDescription());
    }
  }

  /** As clients do first, before they register memory of whatever kind. */
  @Test
  void aMissingRegionCanBeUnregistered() {
    try (GrpcFixture server = server()) {
      unregister(server);
      server.call(
          "CudaSharedMemoryUnregister",
          CudaSharedMemoryUnregisterRequest.getDefaultInstance(),
          CudaSharedMemoryUnregisterResponse.getDefaultInstance());
      assertEquals(0, status(server).getRegionsCount());
    }
  }

  @Test
  @Tag("gpu")
  void tensorsGoIntoAndOutOfARegion() throws IOException {
    try (CudaExporter client = new CudaExporter(BYTES);
        GrpcFixture server = server()) {
      register(server, client.handle());
      var region = status(server).getRegionsOrThrow("r");
      assertEquals("r", region.getName());
      assertEquals(0, region.getDeviceId());
      assertEquals(BYTES, region.getByteSize());
      int half = BYTES / 2;
      ModelInferResponse answer =
          server.call(
              "ModelInfer",
              ModelInferRequest.newBuilder()
                  .setModelName("m")
                  .addInputs(
                      ModelInferRequest.InferInputTensor.newBuilder()
                          .setName("IN")
                          .setDatatype("UINT8")
                          .addShape(half)
                          .putAllParameters(region(half, half)))
                  .addOutputs(
                      ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                          .setName("OUT")
                          .putAllParameters(region(0, half)))
                  .build(),
              ModelInferResponse.getDefaultInstance());
      assertEquals(half, answer.getOutputs(0).getShape(0));
      assertTrue(answer.getRawOutputContents(0).isEmpty());
      byte[] contents = client.contents();
      assertArrayEquals(Arrays.copyOfRange(contents, half, BYTES), Arrays.copyOf(contents, half));
      assertEquals(CudaExporter.firstContent(half), contents[0]);
      unregister(server);
      assertEquals(0, status(server).getRegionsCount());
    }
  }

  @Test
  @Tag("gpu")
  void aModelOnTheGpuReadsAndWritesTheRegionItself(@TempDir Path directory) throws IOException {
    int half = BYTES / 2;
    ModelSpec.Builder doubler = DoublerPlan.build(directory, half / Integer.BYTES);
    try (CudaExporter client = new CudaExporter(BYTES);
        GrpcFixture server = server()) {
      server.nereid().load(doubler.build());
      register(server, client.handle());
      ModelInferResponse answer = doubled(server, half);
      assertEquals("INT32", answer.getOutputs(0).getDatatype());
      assertEquals(half / Integer.BYTES, answer.getOutputs(0).getShape(0));
      assertTrue(answer.getRawOutputContents(0).isEmpty());
      DoublerPlan.assertDoubled(client.contents(), 0, half, half);
      StatusRuntimeException failure =
          assertThrows(StatusRuntimeException.class, () -> doubled(server, half - 1));
      assertEquals(Status.Code.INVALID_ARGUMENT, failure.getStatus().getCode());
      unregister(server);
    }
  }

  private static ModelInferResponse doubled(GrpcFixture server, int outBytes) {
    int half = BYTES / 2;
    return server.call(
        "ModelInfer",
        ModelInferRequest.newBuilder()
            .setModelName("doubler")
            .addInputs(
                ModelInferRequest.InferInputTensor.newBuilder()
                    .setName("IN")
                    .setDatatype("INT32")
                    .addShape(half / Integer.BYTES)
                    .putAllParameters(region(0, half)))
            .addOutputs(
                ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                    .setName("OUT")
                    .putAllParameters(region(half, outBytes)))
            .build(),
        ModelInferResponse.getDefaultInstance());
  }
}
