package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.nereid.model.ModelEvent;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.RepositoryIndexRequest;
import io.nereid.proto.RepositoryIndexResponse;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelLoadResponse;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.ServerReadyResponse;
import io.nereid.proto.health.HealthCheckRequest;
import io.nereid.proto.health.HealthCheckResponse;
import io.nereid.proto.health.HealthCheckResponse.ServingStatus;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The end of the server while a call runs that takes as long as the test wants. */
class StoppingTest {

  private static final String CONFIG =
      """
      backend: "identity"
      input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
      """;

  @TempDir Path repository;
  private final CountDownLatch loading = new CountDownLatch(1);
  private final CountDownLatch mayLoad = new CountDownLatch(1);
  private GrpcFixture server;

  @BeforeEach
  void start() throws IOException {
    Files.createDirectories(repository.resolve("m/1"));
    Files.writeString(repository.resolve("m/config.pbtxt"), CONFIG);
    server =
        new GrpcFixture(
            RepositoryOptions.builder()
                .repository(repository)
                .explicit()
                .listener(this::hold)
                .build());
  }

  private void hold(ModelEvent event) {
    if (event instanceof ModelEvent.Loading) {
      loading.countDown();
      try {
        mayLoad.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @AfterEach
  void stop() {
    mayLoad.countDown();
    server.close();
  }

  private ListenableFuture<RepositoryModelLoadResponse> load() throws InterruptedException {
    RepositoryModelLoadRequest request =
        RepositoryModelLoadRequest.newBuilder().setModelName("m").build();
    var method =
        GrpcFixture.method(
            "RepositoryModelLoad", request, RepositoryModelLoadResponse.getDefaultInstance());
    ListenableFuture<RepositoryModelLoadResponse> reply =
        ClientCalls.futureUnaryCall(server.channel().newCall(method, CallOptions.DEFAULT), request);
    assertTrue(loading.await(60, TimeUnit.SECONDS));
    return reply;
  }

  private void index() {
    server.call(
        "RepositoryIndex",
        RepositoryIndexRequest.getDefaultInstance(),
        RepositoryIndexResponse.getDefaultInstance());
  }

  @Test
  void aCallThatHasBegunIsFinished() throws Exception {
    ListenableFuture<RepositoryModelLoadResponse> reply = load();
    server.state().health().stop(); // as the other frontend does
    StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, this::index);
    assertEquals(Status.Code.UNAVAILABLE, refused.getStatus().getCode());
    assertEquals(
        "GRPC server is shutting down and has stopped accepting new requests.",
        refused.getStatus().getDescription());
    assertFalse(
        server
            .call(
                "ServerReady",
                ServerReadyRequest.getDefaultInstance(),
                ServerReadyResponse.getDefaultInstance())
            .getReady());
    server.server().refuse();
    refused = assertThrows(StatusRuntimeException.class, this::index);
    assertEquals(Status.Code.UNAVAILABLE, refused.getStatus().getCode());
    mayLoad.countDown();
    assertTrue(server.server().stop(Duration.ofSeconds(60)));
    assertEquals(RepositoryModelLoadResponse.getDefaultInstance(), reply.get(60, TimeUnit.SECONDS));
  }

  @Test
  void aCallThatTakesTooLongIsGivenUp() throws Exception {
    ListenableFuture<RepositoryModelLoadResponse> reply = load();
    assertFalse(server.server().stop(Duration.ofMillis(50)));
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> reply.get(60, TimeUnit.SECONDS));
    assertEquals(
        Status.Code.CANCELLED,
        Status.fromThrowable(failure.getCause()).getCode(),
        failure.toString());
  }

  @Test
  void healthIsToldWhileTheModelsLoad() {
    ServerState state = ServerState.builder(server.nereid()).loading().build();
    GrpcServer early = GrpcServer.start(state, GrpcOptions.DEFAULT);
    ManagedChannel channel = GrpcFixture.channel(early.port());
    try {
      var index =
          GrpcFixture.method(
              "RepositoryIndex",
              RepositoryIndexRequest.getDefaultInstance(),
              RepositoryIndexResponse.getDefaultInstance());
      StatusRuntimeException refused =
          assertThrows(
              StatusRuntimeException.class,
              () ->
                  ClientCalls.blockingUnaryCall(
                      channel,
                      index,
                      CallOptions.DEFAULT,
                      RepositoryIndexRequest.getDefaultInstance()));
      assertEquals(Status.Code.UNAVAILABLE, refused.getStatus().getCode());
      assertEquals(
          "GRPC server is starting: its models are being loaded.",
          refused.getStatus().getDescription());
      assertFalse(isReady(channel));
      Iterator<HealthCheckResponse> watch =
          ClientCalls.blockingServerStreamingCall(
              channel,
              GrpcFixture.method(
                  "grpc.health.v1.Health/Watch",
                  MethodType.SERVER_STREAMING,
                  HealthCheckRequest.getDefaultInstance(),
                  HealthCheckResponse.getDefaultInstance()),
              CallOptions.DEFAULT,
              HealthCheckRequest.getDefaultInstance());
      assertEquals(ServingStatus.NOT_SERVING, watch.next().getStatus());
      state.health().loaded();
      assertEquals(ServingStatus.SERVING, watch.next().getStatus());
      assertTrue(isReady(channel));
    } finally {
      channel.shutdownNow();
      early.close();
    }
  }

  private static boolean isReady(ManagedChannel channel) {
    var method =
        GrpcFixture.method(
            "ServerReady",
            ServerReadyRequest.getDefaultInstance(),
            ServerReadyResponse.getDefaultInstance());
    return ClientCalls.blockingUnaryCall(
            channel, method, CallOptions.DEFAULT, ServerReadyRequest.getDefaultInstance())
        .getReady();
  }

  @Test
  void aPortThatIsTakenIsNamed() {
    GrpcOptions taken = GrpcOptions.DEFAULT.withPort(server.server().port());
    NereidException failure =
        assertThrows(NereidException.class, () -> GrpcServer.start(server.state(), taken).close());
    assertTrue(
        failure.getMessage().startsWith("cannot serve gRPC at 127.0.0.1:" + taken.port()),
        failure.getMessage());
  }

  /** What listens to the server, to its models, or to the transport, would keep it in memory. */
  @Test
  void aStartThatFailsLeavesNothingBehind() throws Exception {
    List<Class<?>> parts = List.of(HealthService.class, InferenceCalls.class, EventLoops.class);
    List<Long> before = instances(parts);
    assertTrue(before.stream().allMatch(count -> count >= 1), before::toString);
    GrpcOptions taken = GrpcOptions.DEFAULT.withPort(server.server().port());
    assertThrows(NereidException.class, () -> GrpcServer.start(server.state(), taken));
    // The event loops of the failed start end by themselves, on a busy machine some time later.
    List<Long> after = instances(parts);
    for (int i = 0; i < 600 && !isAtMost(after, before); i++) {
      Thread.sleep(100);
      after = instances(parts);
    }
    assertTrue(isAtMost(after, before), before + " before, " + after + " after");
  }

  private static boolean isAtMost(List<Long> counts, List<Long> limits) {
    return IntStream.range(0, counts.size()).allMatch(i -> counts.get(i) <= limits.get(i));
  }

  /** How many of each class are reachable, by the JVM's own count. */
  private static List<Long> instances(List<Class<?>> classes) throws Exception {
    String histogram =
        (String)
            ManagementFactory.getPlatformMBeanServer()
                .invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "gcClassHistogram",
                    new Object[] {new String[0]},
                    new String[] {String[].class.getName()});
    return classes.stream().map(type -> count(histogram, type)).toList();
  }

  private static long count(String histogram, Class<?> type) {
    return histogram
        .lines()
        .map(line -> line.strip().split("\\s+"))
        .filter(columns -> columns.length >= 4 && columns[3].equals(type.getName()))
        .mapToLong(columns -> Long.parseLong(columns[1]))
        .findFirst()
        .orElse(0);
  }
}
