package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.NereidOptions;
import io.nereid.client.InferRequest;
import io.nereid.client.InferStream;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that stops lets sequences that have started come to their end. */
class SequenceStopTest {

  private static final Path MODEL = Path.of("..", "native", "test", "models", "accumulate.onnx");

  /** What nobody waits for in these tests, but where they fail. */
  private static final Duration TOO_LONG = Duration.ofMinutes(1);

  private static ModelSpec adder(Duration maxIdle) {
    return ModelSpec.builder("adder")
        .backend("onnxruntime")
        .parameter("model_path", MODEL.toAbsolutePath().toString())
        .maxBatchSize(4)
        .input("INPUT", DataType.FP32, 1)
        .output("OUTPUT", DataType.FP32, 1)
        .sequenceBatching(
            SequenceBatching.direct()
                .withMaxIdle(maxIdle)
                .withState(State.of("STATE_IN", "STATE_OUT", DataType.FP32, 1)))
        .build();
  }

  private static ModelSpec plain() {
    return ModelSpec.builder("plain")
        .backend("identity")
        .maxBatchSize(4)
        .input("INPUT", DataType.FP32, 1)
        .output("OUTPUT", DataType.FP32, 1)
        .build();
  }

  private static NereidServer start(Duration exitTimeout, Duration maxIdle) {
    NereidServer server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(RepositoryOptions.builder().explicit().build())
                .withRuntime(NereidOptions.builder().drainTimeout(TOO_LONG).build())
                .withGrpc(GrpcOptions.DEFAULT)
                .withExitTimeout(exitTimeout));
    server.nereid().load(adder(maxIdle));
    server.nereid().load(plain());
    return server;
  }

  private static InferenceClient connect(NereidServer server, String protocol) {
    return InferenceClient.connect(
        protocol.equals("http")
            ? "http://localhost:" + server.httpPort()
            : "grpc://localhost:" + server.grpcPort().orElseThrow());
  }

  private static InferRequest.Builder to(String model, float value) {
    return InferRequest.builder(model).input("INPUT", Tensor.ofFloats(new float[] {value}, 1, 1));
  }

  private static InferRequest part(long id, float value, boolean first, boolean last) {
    return to("adder", value).sequence(id, first, last).build();
  }

  private static float sum(InferenceClient client, InferRequest request) {
    return client.infer(request).output("OUTPUT").toFloatArray()[0];
  }

  private static void refuses(InferenceClient client, InferRequest request, String why) {
    InferenceException refused =
        assertThrows(InferenceException.class, () -> client.infer(request));
    assertEquals(StatusCode.UNAVAILABLE, refused.code(), refused.toString());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  private static CompletableFuture<Boolean> stop(NereidServer server, InferenceClient client) {
    CompletableFuture<Boolean> stopped = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> stopped.complete(server.stop()));
    while (client.serverReady()) {
      LockSupport.parkNanos(1_000_000);
    }
    return stopped;
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void theyEndOverTheFrontends(String protocol) throws Exception {
    try (NereidServer server = start(TOO_LONG, TOO_LONG);
        InferenceClient client = connect(server, protocol)) {
      assertEquals(1, sum(client, part(1, 1, true, false)));
      assertEquals(10, sum(client, part(2, 10, true, false)));
      CompletableFuture<Boolean> stopped = stop(server, client);
      assertFalse(client.modelReady("adder"));
      refuses(client, to("plain", 1).build(), "stopped accepting new");
      refuses(client, part(3, 1, true, false), "no sequence starts any more");
      assertEquals(3, sum(client, part(1, 2, false, false)));
      try (InferenceClient late = connect(server, protocol)) { // on a connection of its own
        assertTrue(late.serverLive());
        assertEquals(6, sum(late, part(1, 3, false, true)));
      }
      assertFalse(stopped.isDone());
      assertEquals(30, sum(client, part(2, 20, false, true)));
      assertTrue(stopped.get(TOO_LONG.toSeconds(), TimeUnit.SECONDS));
      assertThrows(InferenceException.class, client::serverLive);
    }
  }

  @Test
  void soDoThoseOfAStream() throws Exception {
    try (NereidServer server = start(TOO_LONG, TOO_LONG);
        InferenceClient client = connect(server, "grpc");
        InferStream stream = client.openStream()) {
      stream.send(part(1, 1, true, false));
      assertEquals(1, stream.next().output("OUTPUT").toFloatArray()[0]);
      CompletableFuture<Boolean> stopped = stop(server, client);
      stream.send(part(2, 1, true, true));
      InferenceException refused = assertThrows(InferenceException.class, stream::next);
      assertTrue(
          refused.getMessage().contains("no sequence starts any more"), refused.getMessage());
      stream.send(part(1, 2, false, true));
      assertEquals(3, stream.next().output("OUTPUT").toFloatArray()[0]);
      assertTrue(stopped.get(TOO_LONG.toSeconds(), TimeUnit.SECONDS));
    }
  }

  @Test
  void abandonedSequencesEndByIdleTime() throws Exception {
    try (NereidServer server = start(TOO_LONG, Duration.ofMillis(50));
        InferenceClient client = connect(server, "http")) {
      assertEquals(1, sum(client, part(1, 1, true, false)));
      assertTrue(server.stop());
    }
  }

  /** Neither the idle time nor the drain timeout is waited for after that. */
  @Test
  void theExitTimeoutEndsTheRest() {
    try (NereidServer server = start(Duration.ofMillis(1), TOO_LONG);
        InferenceClient client = connect(server, "http")) {
      assertEquals(1, sum(client, part(1, 1, true, false)));
      assertFalse(server.stop());
      assertThrows(InferenceException.class, () -> client.infer(part(1, 1, false, true)));
    }
  }
}
