package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.firstFloat;
import static io.nereid.server.grpc.InferFixture.floats;
import static io.nereid.server.grpc.InferFixture.parameter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.nereid.Model;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Kind;
import io.nereid.model.SequenceBatching.State;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences over gRPC: single calls and streams. */
class SequenceGrpcTest {

  private InferFixture server;

  @BeforeEach
  void start() {
    server =
        new InferFixture()
            .load(adder("direct", SequenceBatching.direct()))
            .load(adder("oldest", SequenceBatching.oldest(3)));
  }

  @AfterEach
  void stop() {
    server.nereid().models().forEach(Model::unload);
    server.close();
  }

  /** Adds up, from 1 000 on where the control says that a sequence starts. */
  private static ModelSpec.Builder adder(String name, SequenceBatching sequences) {
    return ModelSpec.builder(name)
        .backend(context -> SequenceGrpcTest::add)
        .maxBatchSize(3)
        .input("IN", DataType.FP32, 1)
        .output("OUT", DataType.FP32, 1)
        .sequenceBatching(
            sequences
                .withMaxIdle(Duration.ofHours(1))
                .withControl("START", Kind.START, DataType.FP32)
                .withState(State.of("STATE", "NEXT", DataType.FP32, 1)));
  }

  private static void add(Batch batch) {
    float[] sums = new float[(int) batch.size()];
    for (int row = 0; row < sums.length; row++) {
      sums[row] =
          batch.input("STATE").floatAt(row)
              + batch.input("IN").floatAt(row)
              + 1_000 * batch.input("START").floatAt(row);
    }
    Tensor all = Tensor.ofFloats(sums, sums.length, 1);
    batch.output("OUT", all);
    batch.output("NEXT", all);
  }

  private static ModelInferRequest.Builder part(
      String model, InferParameter id, float value, boolean start, boolean end) {
    return floats(model, value)
        .putParameters("sequence_id", id)
        .putParameters("sequence_start", parameter(start))
        .putParameters("sequence_end", parameter(end));
  }

  private float sum(String model, InferParameter id, float value, boolean start, boolean end) {
    return firstFloat(server.infer(part(model, id, value, start, end)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"direct", "oldest"})
  void eachSequenceHasASumOfItsOwn(String model) {
    InferParameter unsigned = InferParameter.newBuilder().setUint64Param(-5).build();
    List<InferParameter> ids = List.of(parameter(7), parameter("seven"), unsigned);
    for (int i = 0; i < ids.size(); i++) {
      assertEquals(1_001 + i, sum(model, ids.get(i), 1 + i, true, false));
    }
    for (int i = 0; i < ids.size(); i++) {
      assertEquals(1_011 + i, sum(model, ids.get(i), 10, false, false));
    }
    assertEquals(1_013, sum(model, parameter(-5), 0, false, true), "one number in two fields");
    server.fails(
        Status.Code.INVALID_ARGUMENT,
        "inference request for sequence 18446744073709551611 to model '"
            + model
            + "' must specify the START flag on the first request of the sequence",
        part(model, unsigned, 1, false, false));
    server.fails(
        Status.Code.INVALID_ARGUMENT,
        "must specify a non-zero or non-empty correlation ID",
        floats(model, 1));
    server.fails(
        Status.Code.INVALID_ARGUMENT,
        "invalid value type for 'sequence_id' parameter, expected int64_param, uint64_param or"
            + " string_param",
        floats(model, 1).putParameters("sequence_id", parameter(true)));
    server.fails(
        Status.Code.UNIMPLEMENTED,
        "string correlation ID cannot be longer than 128 characters",
        floats(model, 1).putParameters("sequence_id", parameter("x".repeat(129))));
  }

  /** All requests are sent before the first answer is read. */
  @ParameterizedTest
  @ValueSource(strings = {"direct", "oldest"})
  void streamsKeepTheOrder(String model) throws Exception {
    List<String> sums = new ArrayList<>();
    CountDownLatch end = new CountDownLatch(1);
    StreamObserver<ModelInferRequest> stream =
        ClientCalls.asyncBidiStreamingCall(
            server.channel().newCall(InferFixture.STREAM, InferFixture.patient()),
            new StreamObserver<ModelStreamInferResponse>() {
              @Override
              public void onNext(ModelStreamInferResponse response) {
                sums.add(
                    response.getInferResponse().getId()
                        + " "
                        + response.getErrorMessage()
                        + (int) firstFloat(response.getInferResponse()));
              }

              @Override
              public void onError(Throwable t) {
                end.countDown();
              }

              @Override
              public void onCompleted() {
                end.countDown();
              }
            });
    List<String> expected = new ArrayList<>();
    for (int sequence = 0; sequence < 10; sequence++) {
      int sum = 1_000;
      for (int step = 1; step <= 5; step++) {
        InferParameter id = parameter("sequence " + sequence);
        stream.onNext(
            part(model, id, step + sequence, step == 1, step == 5).setId("" + step).build());
        sum += step + sequence;
        expected.add(step + " " + sum);
      }
    }
    stream.onCompleted();
    assertTrue(end.await(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS));
    assertEquals(expected, sums);
    assertEquals(10, server.nereid().model(model).statistics().sequences().orElseThrow().ended());
  }

  @Test
  void aClientThatLeavesEndsNothing() {
    assertEquals(1_001, sum("direct", parameter(1), 1, true, false));
    var other = server.newChannel();
    try {
      float sum =
          firstFloat(
              ClientCalls.blockingUnaryCall(
                  other,
                  InferFixture.INFER,
                  InferFixture.patient(),
                  part("direct", parameter(1), 2, false, true).build()));
      assertEquals(1_003, sum);
    } finally {
      other.shutdownNow();
    }
  }
}
