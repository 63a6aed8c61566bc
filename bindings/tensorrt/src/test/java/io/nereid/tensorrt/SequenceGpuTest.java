package io.nereid.tensorrt;

import static io.nereid.tensorrt.NetworkBuilder.dims;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Model.Sequence;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Kind;
import io.nereid.model.SequenceBatching.State;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.time.Duration;
import java.util.List;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences with a state and a control, which the core puts together for the engine. */
class SequenceGpuTest extends GpuTest {

  /** The sum of the inputs of a sequence, plus 1 000 for its first. */
  private static void accumulate(NetworkBuilder builder) {
    org.bytedeco.tensorrt.global.nvinfer.DataType type =
        org.bytedeco.tensorrt.global.nvinfer.DataType.kFLOAT;
    ITensor x = builder.input("x", type, -1, 1);
    ITensor state = builder.input("state", type, -1, 1);
    ITensor start = builder.input("start", type, -1, 1);
    var network = builder.network();
    var sum = network.addElementWise(x, state, ElementWiseOperation.kSUM).getOutput(0);
    builder.output("y", network.addElementWise(sum, start, ElementWiseOperation.kSUM));
    builder.output("next", network.addElementWise(x, state, ElementWiseOperation.kSUM));
    builder.profile(profile -> {
      for (String input : List.of("x", "state", "start")) {
        profile.shapes(input, dims(1, 1), dims(4, 1), dims(4, 1));
      }
    });
  }

  private static float next(Sequence sequence, float value) {
    try (InferRequest request =
            sequence.newRequest().input("x", Tensor.ofFloats(new float[] {value}, 1, 1));
        InferResponse response = request.infer()) {
      return response.output("y").floatAt(0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aStateIsKept(boolean direct) {
    SequenceBatching sequences =
        (direct ? SequenceBatching.direct() : SequenceBatching.oldest(4))
            .withMaxIdle(Duration.ofHours(1))
            .withControl(new SequenceBatching.Control("start", Kind.START, DataType.FP32, 0, 1_000))
            .withState(State.of("state", "next", DataType.FP32, 1));
    Model model =
        nereid.load(
            spec(plan(SequenceGpuTest::accumulate))
                .maxBatchSize(4)
                .input("x", DataType.FP32, 1)
                .output("y", DataType.FP32, 1)
                .sequenceBatching(sequences)
                .build());
    List<Sequence> all = List.of(model.sequence(1), model.sequence(2), model.sequence(3));
    for (int step = 1; step <= 3; step++) {
      for (int i = 0; i < all.size(); i++) {
        float expected = step * (i + 1) + (step == 1 ? 1_000 : 0);
        assertEquals(expected, next(all.get(i), i + 1));
      }
    }
    try (InferRequest request = model.newRequest()) {
      assertFalse(request.takesDeviceInputs(0));
    }
    all.forEach(Sequence::close);
  }
}
