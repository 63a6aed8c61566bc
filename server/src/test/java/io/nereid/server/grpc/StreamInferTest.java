package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static io.nereid.server.grpc.InferFixture.input;
import static io.nereid.server.grpc.InferFixture.parameter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.proto.InferTensorContents;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.http.GateBackend;
import io.nereid.types.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ModelStreamInfer, from a client's side. */
class StreamInferTest {

  private static final Metadata.Key<String> GRPC_ERROR =
      Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER);

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

  /** A client's side of a stream: what comes, in its order. */
  private final class Client extends ClientCall.Listener<ModelStreamInferResponse> {
    final ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
        server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT);
    final LinkedBlockingQueue<ModelStreamInferResponse> responses = new LinkedBlockingQueue<>();
    final CompletableFuture<Status> end = new CompletableFuture<>();

    Client(Metadata headers, int most) {
      call.start(this, headers);
      call.request(most);
    }

    Client() {
      this(new Metadata(), Integer.MAX_VALUE);
    }

    Client send(ModelInferRequest.Builder request) {
      call.sendMessage(request.build());
      return this;
    }

    @Override
    public void onMessage(ModelStreamInferResponse response) {
      responses.add(response);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end.complete(status);
    }

    ModelStreamInferResponse next() throws Exception {
      ModelStreamInferResponse response =
          responses.poll(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertTrue(response != null, "no response came");
      return response;
    }

    ModelInferResponse nextGood() throws Exception {
      ModelStreamInferResponse response = next();
      assertEquals("", response.getErrorMessage());
      return response.getInferResponse();
    }

    /** Closes this side, and waits for the server to close its own. */
    Status finish() throws Exception {
      call.halfClose();
      return end.get(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private static boolean isFinal(ModelInferResponse response) {
    assertTrue(response.containsParameters("triton_final_response"), response.toString());
    return response.getParametersOrThrow("triton_final_response").getBoolParam();
  }

  /** A request with this many responses. */
  static ModelInferRequest.Builder repeat(int count, int delayMs) {
    InferTensorContents.Builder in = InferTensorContents.newBuilder();
    InferTensorContents.Builder delay = InferTensorContents.newBuilder();
    for (int i = 0; i < count; i++) {
      in.addIntContents(100 + i);
      delay.addUintContents(delayMs);
    }
    return ModelInferRequest.newBuilder()
        .setModelName("repeat")
        .addInputs(input("IN", "INT32", count).setContents(in))
        .addInputs(input("DELAY", "UINT32", count).setContents(delay))
        .addInputs(
            input("WAIT", "UINT32", 1)
                .setContents(InferTensorContents.newBuilder().addUintContents(0)));
  }

  @Test
  void anEnsembleStreamsWhatItsDecoupledStepSends() throws Exception {
    server.load(
        ModelSpec.builder("copy")
            .backend("identity")
            .input("IN", DataType.INT32, 1)
            .output("OUT", DataType.INT32, 1));
    server.load(
        ModelSpec.builder("through")
            .input("IN", DataType.INT32, -1)
            .input("DELAY", DataType.UINT32, -1)
            .input("WAIT", DataType.UINT32, 1)
            .output("OUT", DataType.INT32, 1)
            .ensemble(
                new Ensemble(
                    List.of(
                        new Ensemble.Step(
                            "repeat",
                            OptionalLong.empty(),
                            Map.of("IN", "IN", "DELAY", "DELAY", "WAIT", "WAIT"),
                            Map.of("OUT", "between")),
                        new Ensemble.Step(
                            "copy",
                            OptionalLong.empty(),
                            Map.of("IN", "between"),
                            Map.of("OUT", "OUT"))))));
    Client client = new Client();
    client.send(repeat(5, 1).setModelName("through").setId("a"));
    for (int i = 0; i < 5; i++) {
      ModelInferResponse response = client.nextGood();
      assertEquals("a", response.getId());
      assertEquals("through", response.getModelName());
      assertEquals(100 + i, response.getRawOutputContents(0).asReadOnlyByteBuffer().get(0));
      assertEquals(1, response.getOutputsCount());
    }
    client.send(floats("m", 3).setId("b"));
    assertEquals("b", client.nextGood().getId());
    assertEquals(Status.Code.OK, client.finish().getCode());
  }

  @Test
  void answersComeInTheOrderOfTheRequests() throws Exception {
    Client client = new Client();
    client.send(floats("gate", 1).setId("first"));
    gate.awaitBatch();
    for (int i = 2; i < 30; i++) {
      client.send(floats("m", i).setId("" + i));
    }
    InferFixture.await(() -> server.successes("m") == 28, "the others did not execute");
    assertTrue(client.responses.isEmpty(), "overtaken");
    gate.open(1);
    ModelInferResponse first = client.nextGood();
    assertEquals("first", first.getId());
    assertTrue(isFinal(first));
    for (int i = 2; i < 30; i++) {
      ModelInferResponse response = client.nextGood();
      assertEquals("" + i, response.getId());
      assertEquals(i, InferFixture.firstFloat(response));
      assertTrue(isFinal(response));
    }
    assertEquals(Status.Code.OK, client.finish().getCode());
  }

  @Test
  void failuresComeInTheStream() throws Exception {
    Client client = new Client();
    client.send(floats("x", 1).setId("a"));
    client.send(floats("m", 1, 2).setInputs(0, input("IN", "FP32", 1, 1)).setId("b"));
    client.send(floats("m", 3).setId("c"));
    ModelStreamInferResponse a = client.next();
    assertEquals("Request for unknown model: 'x' is not found", a.getErrorMessage());
    assertEquals("a", a.getInferResponse().getId());
    assertTrue(isFinal(a.getInferResponse()));
    ModelStreamInferResponse b = client.next();
    assertTrue(b.getErrorMessage().contains("Expected 4, got 8"), b.getErrorMessage());
    assertEquals("b", b.getInferResponse().getId());
    assertEquals("c", client.nextGood().getId());
    // Only now: a decoupled model's answers wait for no other's.
    client.send(repeat(2, 0).setInputs(0, input("IN", "INT32", 0)).setId("d"));
    ModelStreamInferResponse d = client.next();
    assertTrue(d.getErrorMessage().contains("IN and DELAY shape to match"), d.getErrorMessage());
    assertEquals("d", d.getInferResponse().getId());
    assertEquals(Status.Code.OK, client.finish().getCode());
    assertTrue(client.responses.isEmpty());
  }

  @Test
  void aFailureEndsTheStreamForWhoWantsThat() throws Exception {
    Metadata headers = new Metadata();
    headers.put(GRPC_ERROR, "true");
    Client client = new Client(headers, Integer.MAX_VALUE);
    client.send(floats("m", 1));
    client.send(floats("x", 2));
    client.send(floats("gate", 3));
    assertEquals(1, InferFixture.firstFloat(client.nextGood()));
    Status status = client.end.get(60, TimeUnit.SECONDS);
    assertEquals(Status.Code.NOT_FOUND, status.getCode());
    assertTrue(status.getDescription().contains("'x' is not found"), status.getDescription());
    gate.open(1);
  }

  /** Whether an output can be had as classes shows when it is there. */
  @Test
  void aReplyThatCannotBeMadeIsAFailureLikeOthers() throws Exception {
    server.identity("strings", DataType.BYTES);
    ModelInferRequest.Builder request =
        ModelInferRequest.newBuilder()
            .setModelName("strings")
            .setId("s")
            .addInputs(
                input("IN", "BYTES", 1, 1)
                    .setContents(
                        InferTensorContents.newBuilder()
                            .addBytesContents(ByteString.copyFromUtf8("x"))))
            .addOutputs(
                ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                    .setName("OUT")
                    .putParameters("classification", parameter(1)));
    Client patient = new Client();
    ModelStreamInferResponse response = patient.send(request).next();
    assertTrue(response.getErrorMessage().contains("unsupported type 'BYTES'"));
    assertEquals("s", response.getInferResponse().getId());
    assertTrue(isFinal(response.getInferResponse()));
    assertEquals(Status.Code.OK, patient.finish().getCode());
    Metadata headers = new Metadata();
    headers.put(GRPC_ERROR, "true");
    Client strict = new Client(headers, Integer.MAX_VALUE);
    strict.send(request);
    Status status = strict.end.get(60, TimeUnit.SECONDS);
    assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
    assertTrue(status.getDescription().contains("unsupported type 'BYTES'"));
    assertTrue(strict.responses.isEmpty());
  }

  @Test
  void aDecoupledModelAnswersAnyNumberOfTimes() throws Exception {
    Client client = new Client();
    client.send(repeat(3, 0).setId("r"));
    for (int i = 0; i < 3; i++) {
      ModelInferResponse response = client.nextGood();
      assertEquals("r", response.getId());
      assertEquals(100 + i, response.getRawOutputContents(0).byteAt(0));
      assertEquals(i, response.getRawOutputContents(1).byteAt(0));
      assertFalse(isFinal(response));
    }
    client.send(repeat(0, 0).setId("none"));
    client.send(
        repeat(1, 0)
            .setId("empty final")
            .putParameters("triton_enable_empty_final_response", parameter(true)));
    assertFalse(isFinal(client.nextGood()));
    ModelInferResponse last = client.nextGood();
    assertEquals("empty final", last.getId());
    assertEquals("repeat", last.getModelName());
    assertEquals("1", last.getModelVersion());
    assertEquals(0, last.getOutputsCount());
    assertTrue(isFinal(last));
    assertEquals(Status.Code.OK, client.finish().getCode());
    assertTrue(client.responses.isEmpty());
  }

  @Test
  void requestsUnderWayAreFinishedAfterTheClientsLast() throws Exception {
    Client client = new Client();
    client.send(repeat(20, 2));
    client.send(floats("m", 5));
    client.call.halfClose();
    assertEquals(Status.Code.OK, client.end.get(60, TimeUnit.SECONDS).getCode());
    assertEquals(21, client.responses.size());
    Client empty = new Client();
    assertEquals(Status.Code.OK, empty.finish().getCode());
  }

  @Test
  void aCancelledStreamStopsItsRequests() throws Exception {
    Client client = new Client();
    client.send(floats("gate", 1));
    gate.awaitBatch();
    for (int i = 0; i < 10; i++) {
      client.send(floats("gate", 2));
    }
    client.send(repeat(1000, 50));
    client.nextGood();
    InferFixture.await(
        () -> server.nereid().model("gate").statistics().pendingCount() == 10, "they do not wait");
    client.call.cancel("enough", null);
    InferFixture.await(
        () -> server.nereid().model("gate").statistics().pendingCount() == 0, "they still wait");
    InferFixture.await(
        () -> server.nereid().model("repeat").statistics().executingCount() == 0, "it goes on");
    gate.open(1);
    server.awaitNoLiveBuffers();
    assertEquals(1, server.nereid().model("gate").statistics().executionCount());
  }

  /** What a client does not read is not computed for it, beyond some. */
  @Test
  void aClientThatDoesNotReadIsNotReadFrom() throws Exception {
    Client client = new Client(new Metadata(), 1);
    float[] values = new float[64 << 10];
    int sent = 400;
    for (int i = 0; i < sent; i++) {
      values[0] = i;
      client.send(floats("m", values));
    }
    client.nextGood();
    InferFixture.await(() -> server.successes("m") >= 10, "nothing was executed");
    long before;
    long now = server.successes("m");
    do { // until it comes to rest
      before = now;
      Thread.sleep(200);
      now = server.successes("m");
    } while (now != before);
    assertTrue(now < 200, now + " were executed");
    client.call.request(Integer.MAX_VALUE);
    for (int i = 1; i < sent; i++) {
      assertEquals(i, InferFixture.firstFloat(client.nextGood()));
    }
    assertEquals(Status.Code.OK, client.finish().getCode());
  }

  @Test
  void manyStreamsAtOnce() throws Exception {
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      clients.add(new Client());
    }
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < clients.size(); i++) {
        clients.get(i).send(floats("m", i, round));
      }
    }
    for (int i = 0; i < clients.size(); i++) {
      for (int round = 0; round < 5; round++) {
        assertEquals(i, InferFixture.firstFloat(clients.get(i).nextGood()));
      }
      assertEquals(Status.Code.OK, clients.get(i).finish().getCode());
    }
  }

  @Test
  void streamsEndWhenTheServerStops() throws Exception {
    Client idle = new Client();
    idle.send(floats("m", 1));
    idle.nextGood();
    Client busy = new Client();
    busy.send(floats("gate", 1));
    gate.awaitBatch();
    server.state().health().stop();
    Status end = idle.end.get(60, TimeUnit.SECONDS);
    assertEquals(Status.Code.UNAVAILABLE, end.getCode());
    assertEquals(GrpcStatus.STOPPING.getDescription(), end.getDescription());
    gate.open(1);
    busy.nextGood();
    assertEquals(Status.Code.UNAVAILABLE, busy.end.get(60, TimeUnit.SECONDS).getCode());
  }
}
