package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelStreamInferResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Streams of a decoupled model whose clients leave while it sends as fast as it can. */
class AbandonedStreamTest {

  // Together fewer than the server lets one connection cancel.
  private static final int ROUNDS = 40;
  private static final int STREAMS = 8;

  /** A reader that waited for ever would keep the response that it holds. */
  @Test
  void noThreadReadsOn() throws Exception {
    try (InferFixture server = new InferFixture().repeat()) {
      for (int round = 0; round < ROUNDS; round++) {
        CountDownLatch begun = new CountDownLatch(STREAMS);
        List<ClientCall<?, ?>> calls = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
          calls.add(begin(server, begun));
        }
        assertTrue(begun.await(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS));
        calls.forEach(call -> call.cancel("enough", null));
        server.awaitNoLiveBuffers();
      }
    }
  }

  /** A call that takes all responses, and more than it can ever take are to come. */
  private static ClientCall<?, ?> begin(InferFixture server, CountDownLatch begun) {
    ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
        server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          private boolean first = true;

          @Override
          public void onMessage(ModelStreamInferResponse response) {
            if (first) {
              begun.countDown();
              first = false;
            }
          }
        },
        new Metadata());
    call.request(Integer.MAX_VALUE);
    call.sendMessage(StreamInferTest.repeat(10_000, 0).build());
    return call;
  }
}
