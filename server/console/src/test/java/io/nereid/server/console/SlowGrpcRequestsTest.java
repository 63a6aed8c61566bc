package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferStream;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests of gRPC among those that the console tells to be slow. */
class SlowGrpcRequestsTest {

  private NereidServer server;
  private ConsoleClient console;
  private ConsoleClient.Events events;
  private InferenceClient client;
  private Map<String, Object> latest;

  @BeforeEach
  void lookAtRequests() throws Exception {
    RepositoryOptions models =
        RepositoryOptions.builder()
            .repository(ConsoleModels.BUNDLED)
            .explicit("identity_fp32")
            .explicit("repeat")
            .build();
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(models)
                .withHttp(HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT))
                .withGrpc(GrpcOptions.DEFAULT));
    console = new ConsoleClient(server, Optional.empty());
    events = console.events("api/requests/events");
    latest = events.await(event -> true);
    client = InferenceClient.connect("grpc://localhost:" + server.grpcPort().orElseThrow());
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    events.close();
    console.close();
    server.close();
  }

  private static Optional<Map<?, ?>> find(Map<String, Object> event, String id) {
    return ((List<?>) event.get("requests"))
        .stream()
            .<Map<?, ?>>map(request -> (Map<?, ?>) request)
            .filter(request -> request.get("request_id").equals(id))
            .findFirst();
  }

  /** Waits until the request is told, whose phases follow each other and fill its time. */
  private Map<?, ?> told(String id) throws Exception {
    if (find(latest, id).isEmpty()) {
      latest = events.await(event -> find(event, id).isPresent());
    }
    Map<?, ?> request = find(latest, id).orElseThrow();
    assertEquals("GRPC", request.get("protocol"));
    double end = 0;
    for (Object phase : (List<?>) request.get("phases")) {
      assertEquals(end, number(phase, "start_us"), 0.2, request::toString);
      end = number(phase, "start_us") + number(phase, "duration_us");
    }
    assertEquals(number(request, "duration_us"), end, 0.3, request::toString);
    return request;
  }

  private static double number(Object of, String name) {
    return ((Number) ((Map<?, ?>) of).get(name)).doubleValue();
  }

  private static Tensor zeros(int count) {
    return Tensor.of(DataType.UINT32, ByteBuffer.allocate(Integer.BYTES * count), count);
  }

  private static List<?> phases(Map<?, ?> request) {
    return ((List<?>) request.get("phases"))
        .stream().map(each -> ((Map<?, ?>) each).get("name")).toList();
  }

  @Test
  void aLargeOneSaysWhereItsTimeWent() throws Exception {
    int count = 2_000_000;
    InferRequest large =
        InferRequest.builder("identity_fp32")
            .id("large")
            .input("INPUT0", Tensor.ofFloats(new float[count], 1, count))
            .build();
    client.infer(large).close();
    Map<?, ?> request = told("large");
    assertEquals("identity_fp32", request.get("model"));
    assertEquals("1", request.get("version"));
    assertEquals(null, request.get("error"));
    assertEquals(1, ((Map<?, ?>) request.get("batch")).get("size"));
    assertTrue(
        phases(request).containsAll(List.of("parse", "compute", "encode")), request::toString);
  }

  @Test
  void eachOfAStreamIsOneOfItsOwn() throws Exception {
    try (InferStream stream = client.openStream()) {
      for (String id : List.of("first", "second")) {
        stream.send(
            InferRequest.builder("repeat")
                .id(id)
                .input("IN", Tensor.ofInts(new int[] {1, 2, 3}, 3))
                .input("DELAY", zeros(3))
                .input("WAIT", zeros(1))
                .build());
      }
      stream.finish();
      int answers = 0;
      for (InferResponse next = stream.next(); next != null; next = stream.next()) {
        next.close();
        answers++;
      }
      assertEquals(6, answers);
    }
    Map<?, ?> first = told("first");
    assertEquals("repeat", first.get("model"));
    assertTrue(phases(first).contains("parse"), first::toString);
    assertNotEquals(first.get("id"), told("second").get("id"));
  }

  @Test
  void oneThatFailsSaysWhy() throws Exception {
    InferRequest wrong =
        InferRequest.builder("identity_fp32")
            .id("wrong")
            .input("INPUT0", Tensor.ofInts(new int[] {1}, 1, 1))
            .build();
    Assertions.assertThrows(InferenceException.class, () -> client.infer(wrong));
    Map<?, ?> request = told("wrong");
    assertTrue(request.get("error").toString().contains("INPUT0"), request::toString);
  }
}
