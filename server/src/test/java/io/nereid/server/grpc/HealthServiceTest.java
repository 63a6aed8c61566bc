package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.proto.health.HealthCheckRequest;
import io.nereid.proto.health.HealthCheckResponse;
import io.nereid.proto.health.HealthCheckResponse.ServingStatus;
import io.nereid.proto.health.HealthListRequest;
import io.nereid.proto.health.HealthListResponse;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class HealthServiceTest {

  private static final String CONFIG =
      """
      backend: "identity"
      input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
      """;

  @TempDir Path repository;
  private GrpcFixture server;

  @BeforeEach
  void start() throws IOException {
    Files.createDirectories(repository.resolve("m/1"));
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

  private static CallOptions patience() {
    return CallOptions.DEFAULT.withDeadlineAfter(
        GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private ServingStatus check(String service) {
    HealthCheckRequest request = HealthCheckRequest.newBuilder().setService(service).build();
    return ClientCalls.blockingUnaryCall(
            server.channel(),
            GrpcFixture.method(
                "grpc.health.v1.Health/Check",
                MethodType.UNARY,
                request,
                HealthCheckResponse.getDefaultInstance()),
            patience(),
            request)
        .getStatus();
  }

  @Test
  void aFrontendThatEndedMakesTheServerDead() {
    assertTrue(isLive());
    server.state().health().listenerEnded();
    assertFalse(isLive());
    assertEquals(ServingStatus.NOT_SERVING, check(""));
  }

  private boolean isLive() {
    return ClientCalls.blockingUnaryCall(
            server.channel(),
            GrpcFixture.method(
                InferenceService.NAME + "/ServerLive",
                MethodType.UNARY,
                ServerLiveRequest.getDefaultInstance(),
                ServerLiveResponse.getDefaultInstance()),
            patience(),
            ServerLiveRequest.getDefaultInstance())
        .getLive();
  }

  private Map<String, ServingStatus> list() {
    HealthListRequest request = HealthListRequest.getDefaultInstance();
    return ClientCalls.blockingUnaryCall(
            server.channel(),
            GrpcFixture.method(
                "grpc.health.v1.Health/List",
                MethodType.UNARY,
                request,
                HealthListResponse.getDefaultInstance()),
            patience(),
            request)
        .getStatusesMap()
        .entrySet()
        .stream()
        .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().getStatus()));
  }

  private Iterator<HealthCheckResponse> watch(String service) {
    HealthCheckRequest request = HealthCheckRequest.newBuilder().setService(service).build();
    return ClientCalls.blockingServerStreamingCall(
        server.channel(),
        GrpcFixture.method(
            "grpc.health.v1.Health/Watch",
            MethodType.SERVER_STREAMING,
            request,
            HealthCheckResponse.getDefaultInstance()),
        patience(),
        request);
  }

  /** What is told until the status comes that is waited for. */
  private static void await(ServingStatus expected, Iterator<HealthCheckResponse> watch) {
    ServingStatus told;
    do {
      told = watch.next().getStatus();
    } while (told != expected);
  }

  @Test
  void checkAndList() {
    assertEquals(ServingStatus.SERVING, check(""));
    assertEquals(ServingStatus.SERVING, check("inference.GRPCInferenceService"));
    assertEquals(ServingStatus.SERVING, check("m"));
    StatusRuntimeException unknown =
        assertThrows(StatusRuntimeException.class, () -> check("none"));
    assertEquals(Status.Code.NOT_FOUND, unknown.getStatus().getCode());
    assertEquals(
        Map.of(
            "",
            ServingStatus.SERVING,
            "inference.GRPCInferenceService",
            ServingStatus.SERVING,
            "m",
            ServingStatus.SERVING),
        list());
    assertThrows(NereidException.class, () -> server.nereid().repository().load("broken"));
    assertEquals(ServingStatus.NOT_SERVING, check(""));
    assertEquals(ServingStatus.NOT_SERVING, check("broken"));
    assertEquals(ServingStatus.SERVING, check("m"));
    assertEquals(ServingStatus.NOT_SERVING, list().get("broken"));
  }

  /** A watch keeps its name for as long as it lasts, and needs no token. */
  @Test
  void namesThatNoModelCanHaveAreRefused() {
    String longest = "x".repeat(255);
    assertRefused(Status.Code.NOT_FOUND, "unknown service", () -> check(longest));
    assertEquals(ServingStatus.SERVICE_UNKNOWN, watch(longest).next().getStatus());
    String expected = "expected a service's name of at most 255 bytes, as models have, got 256";
    for (String tooLong : List.of("x".repeat(256), "\u00e9".repeat(128))) {
      assertRefused(Status.Code.INVALID_ARGUMENT, expected, () -> check(tooLong));
      assertRefused(Status.Code.INVALID_ARGUMENT, expected, () -> watch(tooLong).next());
    }
    String large = "x".repeat(4096);
    assertRefused(Status.Code.RESOURCE_EXHAUSTED, "at most 4096 bytes", () -> check(large));
    assertRefused(Status.Code.RESOURCE_EXHAUSTED, "at most 4096 bytes", () -> watch(large).next());
  }

  private static void assertRefused(Status.Code code, String message, Executable call) {
    Status refused = assertThrows(StatusRuntimeException.class, call).getStatus();
    assertEquals(code, refused.getCode(), refused::toString);
    assertTrue(refused.getDescription().contains(message), refused::toString);
  }

  @Test
  void watchersAreToldOfEveryChange() {
    Iterator<HealthCheckResponse> model = watch("m");
    Iterator<HealthCheckResponse> all = watch("");
    Iterator<HealthCheckResponse> broken = watch("broken");
    assertEquals(ServingStatus.SERVING, model.next().getStatus());
    assertEquals(ServingStatus.SERVING, all.next().getStatus());
    assertEquals(ServingStatus.SERVICE_UNKNOWN, broken.next().getStatus());
    server.nereid().repository().unload("m");
    await(ServingStatus.SERVICE_UNKNOWN, model);
    server.nereid().repository().load("m");
    await(ServingStatus.SERVING, model);
    assertThrows(NereidException.class, () -> server.nereid().repository().load("broken"));
    await(ServingStatus.NOT_SERVING, broken);
    await(ServingStatus.NOT_SERVING, all);
    server.nereid().repository().unload("broken");
    await(ServingStatus.SERVICE_UNKNOWN, broken);
    await(ServingStatus.SERVING, all);
  }

  @Test
  void watchesEndWhenTheServerStops() {
    Iterator<HealthCheckResponse> all = watch("");
    Iterator<HealthCheckResponse> model = watch("m");
    assertEquals(ServingStatus.SERVING, all.next().getStatus());
    assertEquals(ServingStatus.SERVING, model.next().getStatus());
    assertTrue(server.server().stop(Duration.ofMinutes(2)), "watches held it up");
    assertEquals(ServingStatus.NOT_SERVING, all.next().getStatus());
    StatusRuntimeException end = assertThrows(StatusRuntimeException.class, all::hasNext);
    assertEquals(Status.Code.UNAVAILABLE, end.getStatus().getCode());
    assertEquals(ServingStatus.NOT_SERVING, model.next().getStatus());
    assertFalse(server.state().health().isReady());
  }
}
