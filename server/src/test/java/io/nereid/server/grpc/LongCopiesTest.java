package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static io.nereid.server.grpc.InferFixture.input;
import static io.nereid.server.grpc.InferFixture.parameter;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ClientCall;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.memory.Segment;
import io.nereid.types.DataType;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tensors in shared memory that take longer to copy than an event loop may take. */
class LongCopiesTest {

  private static final int BYTES = 16 << 20;

  private final byte[] bytes = new byte[BYTES];
  private InferFixture server;
  private Segment segment;

  @BeforeEach
  void start() throws Exception {
    server = new InferFixture().identity("m", DataType.FP32);
    segment = new Segment(2L * BYTES);
    new Random(1).nextBytes(bytes);
    segment.write(0, bytes);
    server.state().sharedMemory().register("r", segment.key(), 0, 2L * BYTES);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    segment.close();
  }

  /** Asks for the first half of the segment to be copied to the second. */
  private static ModelInferRequest.Builder copy(String id, int outputBytes) {
    return ModelInferRequest.newBuilder()
        .setModelName("m")
        .setId(id)
        .addInputs(
            input("IN", "FP32", 1, BYTES / 4)
                .putParameters("shared_memory_region", parameter("r"))
                .putParameters("shared_memory_byte_size", parameter(BYTES)))
        .addOutputs(
            InferRequestedOutputTensor.newBuilder()
                .setName("OUT")
                .putParameters("shared_memory_region", parameter("r"))
                .putParameters("shared_memory_byte_size", parameter(outputBytes))
                .putParameters("shared_memory_offset", parameter(BYTES)));
  }

  private void assertCopied() throws Exception {
    assertArrayEquals(bytes, segment.read(BYTES, BYTES));
    segment.write(BYTES, new byte[BYTES]);
  }

  @Test
  void aCallCopiesBothWays() throws Exception {
    ModelInferResponse response = server.infer(copy("a", BYTES));
    assertEquals("a", response.getId());
    assertEquals(0, response.getRawOutputContents(0).size());
    assertCopied();
    server.fails(io.grpc.Status.Code.INVALID_ARGUMENT, "should be at least", copy("b", BYTES / 2));
  }

  @Test
  void requestsOfAStreamKeepTheirOrder() throws Exception {
    LinkedBlockingQueue<ModelStreamInferResponse> responses = new LinkedBlockingQueue<>();
    ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
        server.channel().newCall(InferFixture.STREAM, io.grpc.CallOptions.DEFAULT);
    var requests =
        ClientCalls.asyncBidiStreamingCall(
            call,
            new ClientResponseObserver<ModelInferRequest, ModelStreamInferResponse>() {
              @Override
              public void beforeStart(ClientCallStreamObserver<ModelInferRequest> ignored) {}

              @Override
              public void onNext(ModelStreamInferResponse response) {
                responses.add(response);
              }

              @Override
              public void onError(Throwable failure) {}

              @Override
              public void onCompleted() {}
            });
    requests.onNext(copy("1", BYTES).build());
    requests.onNext(copy("2", BYTES / 2).build());
    requests.onNext(floats("m", 1).setId("3").build());
    requests.onNext(copy("4", BYTES).build());
    requests.onCompleted();
    for (int i = 1; i <= 4; i++) {
      ModelStreamInferResponse response =
          responses.poll(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertEquals(Integer.toString(i), response.getInferResponse().getId());
      assertEquals(i == 2, response.getErrorMessage().contains("should be at least"));
    }
    assertCopied();
  }

  @Test
  void callsMayBeCancelledWhileTheyCopy() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < 60; i++) {
      var answer =
          ClientCalls.futureUnaryCall(
              server.channel().newCall(InferFixture.INFER, io.grpc.CallOptions.DEFAULT),
              copy("c", BYTES).build());
      TimeUnit.MICROSECONDS.sleep(random.nextInt(20_000));
      answer.cancel(true);
    }
    server.infer(copy("a", BYTES));
    assertArrayEquals(bytes, segment.read(BYTES, BYTES));
    server.state().sharedMemory().unregister("r");
    long end = System.nanoTime() + InferFixture.PATIENCE.toNanos();
    while (segment.openCount() > 0 && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
    assertEquals(0, segment.openCount());
    assertTrue(server.infer(floats("m", 1)).getOutputsCount() > 0);
  }
}
