package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.types.StatusCode;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Streams, with a server that does as it is told. */
class InferStreamTest {

  /** Answers every request with its inputs, as often as its parameter "times" says. */
  private static GrpcPeer echo() {
    return new GrpcPeer()
        .stream(to ->
            new StreamObserver<>() {
              @Override
              public void onNext(ModelInferRequest request) {
                if (request.getModelName().equals("fails")) {
                  to.onNext(failure(request));
                  return;
                }
                long times = request.getParametersOrThrow("times").getInt64Param();
                for (long i = 1; i <= times; i++) {
                  to.onNext(answer(request, i == times));
                }
              }

              @Override
              public void onError(Throwable failure) {}

              @Override
              public void onCompleted() {
                to.onCompleted();
              }
            });
  }

  private static ModelStreamInferResponse failure(ModelInferRequest request) {
    return ModelStreamInferResponse.newBuilder()
        .setErrorMessage("no such model")
        .setInferResponse(ModelInferResponse.newBuilder().setId(request.getId()))
        .build();
  }

  private static ModelStreamInferResponse answer(ModelInferRequest request, boolean last) {
    ModelInferResponse.Builder response =
        ModelInferResponse.newBuilder()
            .setModelName(request.getModelName())
            .setId(request.getId())
            .putParameters(
                "triton_final_response", InferParameter.newBuilder().setBoolParam(last).build())
            .addAllRawOutputContents(request.getRawInputContentsList());
    for (ModelInferRequest.InferInputTensor input : request.getInputsList()) {
      response
          .addOutputsBuilder()
          .setName(input.getName())
          .setDatatype(input.getDatatype())
          .addAllShape(input.getShapeList());
    }
    return ModelStreamInferResponse.newBuilder().setInferResponse(response).build();
  }

  private static InferRequest request(int id, int times, int count) {
    float[] values = new float[count];
    java.util.Arrays.fill(values, id);
    return InferRequest.builder("m")
        .id(Integer.toString(id))
        .parameter("times", times)
        .input("T", Tensor.ofFloats(values, count))
        .build();
  }

  @Test
  void responsesComeInOrderAndTheEndAfterThem() throws Exception {
    try (GrpcPeer peer = echo().start();
        InferenceClient client = peer.connect();
        InferStream stream = client.openStream()) {
      Thread sender =
          ScriptedServer.start(() -> {
            for (int i = 0; i < 100; i++) {
              stream.send(request(i, i % 3, i * 100 + 1));
            }
            stream.finish();
          });
      for (int i = 0; i < 100; i++) {
        for (int j = 1; j <= i % 3; j++) {
          assertFalse(stream.isEnded());
          try (InferResponse response = stream.next()) {
            assertEquals(Integer.toString(i), response.id().orElseThrow());
            assertEquals(j == i % 3, response.isFinal());
            float[] values = response.output("T").toFloatArray();
            assertEquals(i * 100 + 1, values.length);
            assertEquals(i, values[values.length - 1]);
          }
        }
      }
      assertNull(stream.next());
      assertNull(stream.next());
      assertTrue(stream.isEnded());
      sender.join();
      assertThrows(IllegalStateException.class, () -> stream.send(request(1, 1, 1)));
    }
  }

  @Test
  void aRequestThatFailsDoesNotEndTheStream() throws Exception {
    try (GrpcPeer peer = echo().start();
        InferenceClient client = peer.connect();
        InferStream stream = client.openStream()) {
      stream.send(InferRequest.builder("fails").id("7").build());
      stream.send(request(8, 1, 1));
      InferenceException failure = assertThrows(InferenceException.class, stream::next);
      assertEquals("no such model", failure.getMessage());
      assertEquals("7", failure.requestId().orElseThrow());
      assertFalse(stream.isEnded());
      try (InferResponse response = stream.next()) {
        assertArrayEquals(new float[] {8}, response.output("T").toFloatArray());
      }
    }
  }

  @Test
  void aStreamThatBreaksSaysSoEveryTime() throws Exception {
    GrpcPeer peer =
        new GrpcPeer()
            .stream(to -> {
              to.onError(Status.RESOURCE_EXHAUSTED.withDescription("full").asRuntimeException());
              return new Ignored();
            });
    try (GrpcPeer started = peer.start();
        InferenceClient client = started.connect();
        InferStream stream = client.openStream()) {
      for (int i = 0; i < 2; i++) {
        InferenceException failure = assertThrows(InferenceException.class, stream::next);
        assertEquals(StatusCode.RESOURCE_EXHAUSTED, failure.code());
        assertEquals("full", failure.getMessage());
      }
      assertTrue(stream.isEnded());
      InferenceException unsent =
          assertThrows(InferenceException.class, () -> stream.send(request(1, 1, 1)));
      assertEquals(StatusCode.RESOURCE_EXHAUSTED, unsent.code());
    }
  }

  /** Takes requests and does nothing. */
  private static final class Ignored implements StreamObserver<ModelInferRequest> {
    @Override
    public void onNext(ModelInferRequest request) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }

  @Test
  void closingCancelsAtTheServer() throws Exception {
    BlockingQueue<Boolean> cancelled = new LinkedBlockingQueue<>();
    GrpcPeer peer =
        new GrpcPeer()
            .stream(to -> {
              ((ServerCallStreamObserver<?>) to).setOnCancelHandler(() -> cancelled.add(true));
              return new Ignored();
            });
    try (GrpcPeer started = peer.start();
        InferenceClient client = started.connect()) {
      InferStream stream = client.openStream();
      stream.send(request(1, 1, 1));
      CountDownLatch ended = new CountDownLatch(1);
      ScriptedServer.start(() -> {
        assertThrows(IllegalStateException.class, stream::next);
        ended.countDown();
      });
      stream.close();
      stream.close();
      assertTrue(ended.await(20, TimeUnit.SECONDS));
      assertEquals(true, cancelled.poll(20, TimeUnit.SECONDS));
      assertTrue(stream.isEnded());
      assertThrows(IllegalStateException.class, () -> stream.send(request(1, 1, 1)));
    }
  }

  @Test
  void aReaderThatDoesNotReadHoldsTheServerUp() throws Exception {
    AtomicInteger written = new AtomicInteger();
    GrpcPeer peer =
        new GrpcPeer()
            .stream(to -> {
              ServerCallStreamObserver<ModelStreamInferResponse> observer =
                  (ServerCallStreamObserver<ModelStreamInferResponse>) to;
              ModelStreamInferResponse large =
                  answer(
                      ModelInferRequest.newBuilder()
                          .addInputs(
                              ModelInferRequest.InferInputTensor.newBuilder()
                                  .setName("T")
                                  .setDatatype("UINT8")
                                  .addShape(1 << 20))
                          .addRawInputContents(
                              com.google.protobuf.ByteString.copyFrom(new byte[1 << 20]))
                          .build(),
                      true);
              observer.setOnReadyHandler(() -> {
                while (observer.isReady() && written.get() < 1000) {
                  observer.onNext(large);
                  written.incrementAndGet();
                }
              });
              return new Ignored();
            });
    try (GrpcPeer started = peer.start();
        InferenceClient client = started.connect();
        InferStream stream = client.openStream()) {
      stream.next().close();
      int before;
      do {
        before = written.get();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
      } while (written.get() != before);
      assertTrue(written.get() < 50, "the server wrote " + written + " MiB ahead of the reader");
      while (written.get() <= before + 20) {
        stream.next().close();
      }
    }
  }

  @Test
  void aServerThatDoesNotReadHoldsTheSenderUp() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    AtomicInteger received = new AtomicInteger();
    GrpcPeer peer =
        new GrpcPeer()
            .stream(to -> {
              ((ServerCallStreamObserver<?>) to).disableAutoRequest();
              ScriptedServer.start(() -> {
                try {
                  reading.await();
                  ((ServerCallStreamObserver<?>) to).request(1000);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
              return new StreamObserver<>() {
                @Override
                public void onNext(ModelInferRequest request) {
                  received.incrementAndGet();
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {
                  to.onCompleted();
                }
              };
            });
    AtomicInteger sent = new AtomicInteger();
    try (GrpcPeer started = peer.start();
        InferenceClient client = started.connect();
        InferStream stream = client.openStream()) {
      Thread sender =
          ScriptedServer.start(() -> {
            for (int i = 0; i < 100; i++) {
              stream.send(request(i, 1, 1 << 18));
              sent.incrementAndGet();
            }
            stream.finish();
          });
      int before;
      do {
        before = sent.get();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
      } while (sent.get() != before || before == 0);
      assertTrue(sent.get() < 30, sent + " MiB were sent to a server that does not read");
      assertEquals(0, received.get());
      reading.countDown();
      assertNull(stream.next());
      sender.join();
      assertEquals(100, received.get());
    }
  }
}
