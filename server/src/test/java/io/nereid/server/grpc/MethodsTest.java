package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.InferRequest;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryRegisterResponse;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryStatusResponse;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterResponse;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelConfigResponse;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ModelRepositoryParameter;
import io.nereid.proto.ModelStatistics;
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
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The methods that carry no tensors, on a repository in control mode explicit. */
class MethodsTest {

  private static final String CONFIG =
      """
      backend: "identity"
      max_batch_size: 4
      input { name: "IN" data_type: TYPE_FP32 dims: [ 2, -1 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ 2, -1 ] }
      version_policy { all {} }
      """;

  @TempDir Path repository;
  private GrpcFixture server;

  @BeforeEach
  void start() throws IOException {
    for (String version : new String[] {"1", "3"}) {
      Files.createDirectories(repository.resolve("m").resolve(version));
    }
    Files.writeString(repository.resolve("m/config.pbtxt"), CONFIG);
    Files.createDirectories(repository.resolve("broken/1"));
    Files.writeString(repository.resolve("broken/config.pbtxt"), "backend: \"none\"");
    server =
        new GrpcFixture(RepositoryOptions.builder().repository(repository).explicit("m").build());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static void assertFails(Status.Code code, String message, Executable call) {
    StatusRuntimeException failure = assertThrows(StatusRuntimeException.class, call);
    assertEquals(code, failure.getStatus().getCode(), failure.getMessage());
    assertTrue(failure.getMessage().contains(message), failure.getMessage());
  }

  private boolean isReady(String model, String version) {
    return server
        .call(
            "ModelReady",
            ModelReadyRequest.newBuilder().setName(model).setVersion(version).build(),
            ModelReadyResponse.getDefaultInstance())
        .getReady();
  }

  private boolean isServerReady() {
    return server
        .call(
            "ServerReady",
            ServerReadyRequest.getDefaultInstance(),
            ServerReadyResponse.getDefaultInstance())
        .getReady();
  }

  private ModelMetadataResponse metadata(String model, String version) {
    return server.call(
        "ModelMetadata",
        ModelMetadataRequest.newBuilder().setName(model).setVersion(version).build(),
        ModelMetadataResponse.getDefaultInstance());
  }

  private List<ModelStatistics> statistics(String model, String version) {
    return server
        .call(
            "ModelStatistics",
            ModelStatisticsRequest.newBuilder().setName(model).setVersion(version).build(),
            ModelStatisticsResponse.getDefaultInstance())
        .getModelStatsList();
  }

  private List<String> index(boolean readyOnly) {
    return server
        .call(
            "RepositoryIndex",
            RepositoryIndexRequest.newBuilder().setReady(readyOnly).build(),
            RepositoryIndexResponse.getDefaultInstance())
        .getModelsList()
        .stream()
        .map(one ->
            String.join("|", one.getName(), one.getVersion(), one.getState(), one.getReason()))
        .toList();
  }

  private void load(RepositoryModelLoadRequest.Builder request) {
    server.call(
        "RepositoryModelLoad", request.build(), RepositoryModelLoadResponse.getDefaultInstance());
  }

  private static RepositoryModelLoadRequest.Builder loadOf(String model) {
    return RepositoryModelLoadRequest.newBuilder().setModelName(model);
  }

  private void unload(String model, String parameter, ModelRepositoryParameter value) {
    RepositoryModelUnloadRequest.Builder request =
        RepositoryModelUnloadRequest.newBuilder().setModelName(model);
    if (value != null) {
      request.putParameters(parameter, value);
    }
    server.call(
        "RepositoryModelUnload",
        request.build(),
        RepositoryModelUnloadResponse.getDefaultInstance());
  }

  private static ModelRepositoryParameter text(String value) {
    return ModelRepositoryParameter.newBuilder().setStringParam(value).build();
  }

  @Test
  void health() {
    assertTrue(
        server
            .call(
                "ServerLive",
                ServerLiveRequest.getDefaultInstance(),
                ServerLiveResponse.getDefaultInstance())
            .getLive());
    assertTrue(isServerReady());
    assertTrue(isReady("m", ""));
    assertTrue(isReady("m", "3"));
    assertFalse(isReady("m", "2"));
    assertFalse(isReady("none", ""));
  }

  @Test
  void aBrokenModelMakesTheServerUnready() {
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "load failed for model 'broken': version 1 is at "
            + "UNAVAILABLE state: unknown backend 'none'",
        () -> load(loadOf("broken")));
    assertFalse(isServerReady());
    assertFalse(isReady("broken", ""));
    assertFails(Status.Code.UNAVAILABLE, "is not at ready state", () -> metadata("broken", ""));
  }

  @Test
  void metadata() {
    ServerMetadataResponse about =
        server.call(
            "ServerMetadata",
            ServerMetadataRequest.getDefaultInstance(),
            ServerMetadataResponse.getDefaultInstance());
    assertEquals("nereid", about.getName());
    assertFalse(about.getVersion().isEmpty());
    assertTrue(about.getExtensionsList().contains("model_repository"), about.toString());
    ModelMetadataResponse model = metadata("m", "");
    assertEquals("m", model.getName());
    assertEquals(List.of("1", "3"), model.getVersionsList());
    assertEquals("identity", model.getPlatform());
    assertEquals("IN", model.getInputs(0).getName());
    assertEquals("FP32", model.getInputs(0).getDatatype());
    assertEquals(List.of(-1L, 2L, -1L), model.getInputs(0).getShapeList());
    assertEquals("OUT", model.getOutputs(0).getName());
    assertEquals(List.of("1"), metadata("m", "1").getVersionsList());
    ModelConfigResponse config =
        server.call(
            "ModelConfig",
            ModelConfigRequest.newBuilder().setName("m").build(),
            ModelConfigResponse.getDefaultInstance());
    assertEquals(4, config.getConfig().getMaxBatchSize());
    assertEquals("IN", config.getConfig().getInput(0).getName());
  }

  @Test
  void latestIsTheHighestVersion() {
    assertEquals(metadata("m", ""), metadata("m", "latest"));
    assertTrue(isReady("m", "latest"));
  }

  @Test
  void modelsAndVersionsThatAreNotThere() {
    assertFails(
        Status.Code.NOT_FOUND,
        "Request for unknown model: 'none' is not found",
        () -> metadata("none", ""));
    assertFails(
        Status.Code.NOT_FOUND,
        "Request for unknown model: 'm' version 2 is not found",
        () -> metadata("m", "2"));
    for (String version : new String[] {"0", "-1", "1.5", "x", "9223372036854775808", " 1"}) {
      String message =
          "failed to get model version from specified version string '" + version + "'";
      assertFails(Status.Code.INVALID_ARGUMENT, message, () -> metadata("m", version));
      assertFails(Status.Code.INVALID_ARGUMENT, message, () -> isReady("m", version));
      assertFails(Status.Code.INVALID_ARGUMENT, message, () -> statistics("m", version));
    }
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "requested model 'none' is not available",
        () -> statistics("none", ""));
  }

  @Test
  void aLongNameIsNotToldInFull() {
    String name = "ü".repeat(30_000);
    assertFails(Status.Code.INVALID_ARGUMENT, "requested model 'ü", () -> statistics(name, ""));
  }

  @Test
  void statistics() {
    try (InferRequest request =
            server
                .nereid()
                .model("m", 1)
                .newRequest()
                .input("IN", Tensor.ofFloats(new float[6], 3, 2, 1));
        var response = request.infer()) {
      assertEquals("OUT", response.outputNames().getFirst());
    }
    assertEquals(2, statistics("", "").size());
    ModelStatistics one = statistics("m", "1").getFirst();
    assertEquals("m", one.getName());
    assertEquals("1", one.getVersion());
    assertEquals(3, one.getInferenceCount());
    assertEquals(1, one.getExecutionCount());
    assertTrue(one.getLastInference() > 1_600_000_000_000L, one.toString());
    assertEquals(1, one.getInferenceStats().getSuccess().getCount());
    assertTrue(one.getInferenceStats().getSuccess().getNs() > 0);
    assertEquals(1, one.getInferenceStats().getComputeInfer().getCount());
    assertTrue(one.getInferenceStats().hasCacheHit());
    assertTrue(one.getInferenceStats().hasCacheMiss());
    assertEquals(3, one.getBatchStats(0).getBatchSize());
    assertEquals("CPU", one.getMemoryUsage(0).getType());
  }

  @Test
  void indexOfTheRepository() {
    assertEquals(List.of("broken|||", "m|1|READY|", "m|3|READY|"), index(false));
    assertEquals(List.of("m|1|READY|", "m|3|READY|"), index(true));
    unload("m", "", null);
    assertEquals(
        List.of("broken|||", "m|1|UNAVAILABLE|unloaded", "m|3|UNAVAILABLE|unloaded"), index(false));
    assertFails(
        Status.Code.UNIMPLEMENTED,
        "'repository_name' specification is not supported",
        () ->
            server.call(
                "RepositoryIndex",
                RepositoryIndexRequest.newBuilder().setRepositoryName("r").build(),
                RepositoryIndexResponse.getDefaultInstance()));
  }

  @Test
  void loadingAndUnloading() {
    unload(
        "m", "unload_dependents", ModelRepositoryParameter.newBuilder().setBoolParam(true).build());
    assertFalse(isReady("m", ""));
    load(loadOf("m"));
    assertTrue(isReady("m", "3"));
    String other =
        "{\"backend\":\"identity\",\"input\":[{\"name\":\"A\",\"data_type\":\"TYPE_INT32\","
            + "\"dims\":[4]}],\"output\":[{\"name\":\"B\",\"data_type\":\"TYPE_INT32\","
            + "\"dims\":[4]}]}";
    load(loadOf("m").putParameters("config", text(other)));
    assertEquals("A", metadata("m", "").getInputs(0).getName());
    load(
        loadOf("sent")
            .putParameters("config", text(other))
            .putParameters(
                "file:1/weights",
                ModelRepositoryParameter.newBuilder()
                    .setBytesParam(ByteString.copyFromUtf8("w"))
                    .build()));
    assertTrue(isReady("sent", "1"));
    load(loadOf("m"));
    assertEquals("A", metadata("m", "").getInputs(0).getName());
    unload("m", "", null);
    unload("nobody", "", null);
    load(loadOf("m"));
    assertEquals("IN", metadata("m", "").getInputs(0).getName());
  }

  @Test
  void loadsThatAreRefused() {
    assertFails(
        Status.Code.NOT_FOUND,
        "failed to load 'none', failed to poll from model repository",
        () -> load(loadOf("none")));
    assertFails(
        Status.Code.INTERNAL, // which Triton's clients expect
        "failed to load 'm', failed to poll from model repository: expected a file's path",
        () ->
            load(
                loadOf("m")
                    .putParameters("config", text("{}"))
                    .putParameters(
                        "file:" + "A".repeat(256),
                        ModelRepositoryParameter.newBuilder()
                            .setBytesParam(ByteString.EMPTY)
                            .build())));
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "unrecognized load parameter 'x'",
        () -> load(loadOf("m").putParameters("x", text(""))));
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "invalid value type for 'config' parameter, expected string_param, got bool_param",
        () ->
            load(
                loadOf("m")
                    .putParameters(
                        "config",
                        ModelRepositoryParameter.newBuilder().setBoolParam(true).build())));
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "override of files needs parameter 'config'",
        () ->
            load(
                loadOf("m")
                    .putParameters(
                        "file:1/w",
                        ModelRepositoryParameter.newBuilder()
                            .setBytesParam(ByteString.EMPTY)
                            .build())));
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "must not contain path traversal characters",
        () -> load(loadOf("../m")));
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "unrecognized unload parameter 'x'",
        () -> unload("m", "x", text("")));
    assertTrue(isReady("m", ""));
  }

  @Test
  void cudaMemoryIsNotThere() {
    assertEquals(
        0,
        server
            .call(
                "CudaSharedMemoryStatus",
                CudaSharedMemoryStatusRequest.getDefaultInstance(),
                CudaSharedMemoryStatusResponse.getDefaultInstance())
            .getRegionsCount());
    assertFails(
        Status.Code.UNIMPLEMENTED,
        "CUDA shared memory is not supported",
        () ->
            server.call(
                "CudaSharedMemoryRegister",
                CudaSharedMemoryRegisterRequest.getDefaultInstance(),
                CudaSharedMemoryRegisterResponse.getDefaultInstance()));
    assertFails(
        Status.Code.UNIMPLEMENTED,
        "CUDA shared memory is not supported",
        () ->
            server.call(
                "CudaSharedMemoryUnregister",
                CudaSharedMemoryUnregisterRequest.getDefaultInstance(),
                CudaSharedMemoryUnregisterResponse.getDefaultInstance()));
  }
}
