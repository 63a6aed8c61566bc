package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.nereid.NereidOptions;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.http.GateBackend;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** Traces of ModelInfer and ModelStreamInfer. */
class CallTraceTest {

  private static final List<String> EXECUTED =
      List.of(
          "GRPC_WAITREAD_START",
          "GRPC_WAITREAD_END",
          "REQUEST_START",
          "QUEUE_START",
          "COMPUTE_START",
          "COMPUTE_INPUT_END",
          "COMPUTE_OUTPUT_START",
          "COMPUTE_END",
          "REQUEST_END",
          "GRPC_SEND_START",
          "GRPC_SEND_END");

  private static final List<String> REFUSED =
      List.of("GRPC_WAITREAD_START", "GRPC_WAITREAD_END", "GRPC_SEND_START", "GRPC_SEND_END");

  @TempDir Path files;

  /** By the number of the trace: its model with the request's name, and what happened. */
  private final Map<Object, String> models = new HashMap<>();

  private final Map<Object, List<String>> times = new HashMap<>();

  private static Tracing tracing(Path file) {
    return tracing(file, TraceLevel.TIMESTAMPS);
  }

  private static Tracing tracing(Path file, TraceLevel... levels) {
    return new Tracing(TraceOptions.OFF.withRate(1).withFile(file.toString()).withLevels(levels));
  }

  private void read(Path file) throws IOException {
    for (Object entry : JSON.std.listFrom(Files.readString(file))) {
      Map<?, ?> one = (Map<?, ?>) entry;
      if (one.containsKey("model_name")) {
        models.put(one.get("id"), one.get("model_name") + " " + one.get("request_id"));
      } else {
        for (Object stamp : (List<?>) one.get("timestamps")) {
          times
              .computeIfAbsent(one.get("id"), id -> new ArrayList<>())
              .add((String) ((Map<?, ?>) stamp).get("name"));
        }
      }
    }
  }

  @Test
  void aCallHasTheTimesOfItsStages() throws Exception {
    Path file = files.resolve("t.json");
    try (InferFixture server =
        new InferFixture(NereidOptions.builder(), tracing(file)).identity("m", DataType.FP32)) {
      server.infer(floats("m", 1).setId("the id"));
      server.fails(Code.NOT_FOUND, "is not found", floats("x", 1));
    }
    read(file);
    assertEquals("m the id", models.get(1));
    assertEquals(EXECUTED, times.get(1));
    assertEquals(REFUSED, times.get(2));
  }

  /** Each request of a stream has its own: an answer, a failure, and several responses. */
  @Test
  void soHasEachRequestOfAStream() throws Exception {
    Path file = files.resolve("t.json");
    try (InferFixture server =
        new InferFixture(NereidOptions.builder(), tracing(file))
            .identity("m", DataType.FP32)
            .repeat()) {
      List<ModelInferRequest> requests =
          List.of(
              floats("m", 1).setId("one").build(),
              floats("x", 1).setId("two").build(),
              StreamInferTest.repeat(3, 0).setId("three").build());
      CompletableFuture<Status> end = new CompletableFuture<>();
      ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
          server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT);
      call.start(
          new ClientCall.Listener<>() {
            @Override
            public void onClose(Status status, Metadata trailers) {
              end.complete(status);
            }
          },
          new Metadata());
      call.request(10);
      requests.forEach(call::sendMessage);
      call.halfClose();
      assertTrue(end.get(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS).isOk());
    }
    read(file);
    assertEquals(Map.of(1, "m one", 2, "x two", 3, "repeat three"), models);
    assertEquals(EXECUTED, times.get(1));
    assertEquals(REFUSED, times.get(2));
    assertEquals("GRPC_WAITREAD_START", times.get(3).getFirst());
    assertEquals("GRPC_SEND_END", times.get(3).getLast());
    assertTrue(times.get(3).contains("REQUEST_END"), times.get(3).toString());
  }

  @Test
  void tensorsAreRecordedToo() throws Exception {
    Path file = files.resolve("t.json");
    try (InferFixture server =
        new InferFixture(NereidOptions.builder(), tracing(file, TraceLevel.TENSORS))
            .identity("m", DataType.FP32)) {
      server.infer(floats("m", 1.5f));
    }
    List<Object> tensors = new ArrayList<>();
    for (Object entry : JSON.std.listFrom(Files.readString(file)).subList(1, 3)) {
      Map<?, ?> one = (Map<?, ?>) entry;
      tensors.add(one.get("activity") + " " + ((Map<?, ?>) one.get("tensor")).get("data"));
    }
    assertEquals(List.of("TENSOR_QUEUE_INPUT 1.5", "TENSOR_BACKEND_OUTPUT 1.5"), tensors);
  }

  /** A stream that its client leaves has no trace without an end. */
  @Test
  void aRequestWhoseStreamIsCancelledHasATrace() throws Exception {
    Path file = files.resolve("t.json");
    GateBackend gate = new GateBackend();
    try (InferFixture server =
        new InferFixture(NereidOptions.builder(), tracing(file)).gate(gate)) {
      ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
          server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT);
      call.start(new ClientCall.Listener<>() {}, new Metadata());
      call.request(1);
      call.sendMessage(floats("gate", 1).build());
      gate.awaitBatch();
      call.cancel("enough", null);
      InferFixture.await(() -> isWritten(file), "no trace was written");
      gate.open(1);
    }
    read(file);
    assertEquals(Map.of(1, "gate null"), models);
    assertEquals("GRPC_WAITREAD_START", times.get(1).getFirst());
    assertTrue(times.get(1).contains("REQUEST_END"), times.get(1).toString());
  }

  private static boolean isWritten(Path file) {
    try {
      return Files.exists(file) && Files.size(file) > 100;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
