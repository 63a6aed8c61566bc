package io.nereid.tensorrt;

import static io.nereid.tensorrt.NetworkBuilder.dims;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.IShuffleLayer;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines that take the elements of all requests in one dimension, and are told whose they are. */
class RaggedGpuTest extends GpuTest {

  /** The most elements of all requests together. */
  private static final int MOST = 24;

  private static final DynamicBatching BY_THREE =
      DynamicBatching.builder().preferredBatchSizes(3).maxQueueDelay(Duration.ofHours(1)).build();

  /** Twice each element of x, and what the engine was told of them: in a row each, and as it is. */
  private static void told(NetworkBuilder builder) {
    ITensor x = builder.input("x", org.bytedeco.tensorrt.global.nvinfer.DataType.kFLOAT, -1);
    ITensor told = builder.input("told", org.bytedeco.tensorrt.global.nvinfer.DataType.kINT32, -1);
    var network = builder.network();
    builder.output("y", network.addElementWise(x, x, ElementWiseOperation.kSUM));
    IShuffleLayer column = network.addShuffle(told);
    column.setReshapeDimensions(new Dims64().nbDims(2).d(0, -1).d(1, 1));
    builder.output("rows", column);
    builder.output("all", network.addElementWise(told, told, ElementWiseOperation.kMAX));
    builder.profile(profile -> {
      profile.shapes("x", dims(1), dims(8), dims(MOST));
      profile.shapes("told", dims(1), dims(4), dims(8));
    });
  }

  private static ModelSpec.Builder ragged(Path plan, BatchInput.Kind kind) {
    return spec(plan)
        .maxBatchSize(4)
        .input(TensorSpec.of("x", DataType.FP32, -1).asRagged())
        .batchInput(BatchInput.of(kind, "told", "x"))
        .output("y", DataType.FP32, -1)
        .batchOutput(new BatchOutput(List.of("y"), "x"));
  }

  private static float[] numbers(int size, float first) {
    float[] values = new float[size];
    for (int i = 0; i < size; i++) {
      values[i] = first + i;
    }
    return values;
  }

  /** Sends three requests, which are a batch, and returns what the engine said of each. */
  private static List<Integer> inferAll(Model model, int... sizes) throws Exception {
    List<InferRequest> requests = new ArrayList<>();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    for (int i = 0; i < sizes.length; i++) {
      Tensor x = Tensor.ofFloats(numbers(sizes[i], 100 * i), 1, sizes[i]);
      requests.add(model.newRequest().input("x", x));
      answers.add(requests.get(i).inferAsync());
    }
    try {
      return told(answers, sizes);
    } finally {
      requests.forEach(InferRequest::close);
    }
  }

  private static List<Integer> told(List<CompletableFuture<InferResponse>> answers, int... sizes)
      throws Exception {
    List<Integer> told = new ArrayList<>();
    for (int i = 0; i < sizes.length; i++) {
      try (InferResponse response = answers.get(i).get()) {
        assertArrayEquals(new long[] {1, sizes[i]}, response.output("y").shape());
        float[] expected = numbers(sizes[i], 100 * i);
        for (int n = 0; n < expected.length; n++) {
          assertEquals(2 * expected[n], response.output("y").floatAt(n));
        }
        told.add(response.output("rows").intAt(0));
      }
    }
    return told;
  }

  @ParameterizedTest
  @CsvSource({
    "ELEMENT_COUNT, 2, 5, 1",
    "ACCUMULATED_ELEMENT_COUNT, 2, 7, 8",
    "ITEM_SHAPE, 2, 5, 1",
    "ITEM_SHAPE_FLATTEN, 2, 5, 1"
  })
  void requestsOfDifferentSizesShareABatch(BatchInput.Kind kind, int one, int two, int three)
      throws Exception {
    boolean column = kind == BatchInput.Kind.ITEM_SHAPE;
    Path plan = plan(column ? RaggedGpuTest::columns : RaggedGpuTest::told);
    Model model =
        nereid.load(
            ragged(plan, kind).dynamicBatching(BY_THREE).output("rows", DataType.INT32, 1).build());
    assertEquals(List.of(one, two, three), inferAll(model, 2, 5, 1));
    assertEquals(1, model.statistics().executionCount());
    assertEquals(3, model.statistics().inferenceCount());
  }

  /** The same for what is told in a row each. */
  private static void columns(NetworkBuilder builder) {
    ITensor x = builder.input("x", org.bytedeco.tensorrt.global.nvinfer.DataType.kFLOAT, -1);
    ITensor told =
        builder.input("told", org.bytedeco.tensorrt.global.nvinfer.DataType.kINT32, -1, 1);
    var network = builder.network();
    builder.output("y", network.addElementWise(x, x, ElementWiseOperation.kSUM));
    builder.output("rows", network.addElementWise(told, told, ElementWiseOperation.kMAX));
    builder.profile(profile -> {
      profile.shapes("x", dims(1), dims(8), dims(MOST));
      profile.shapes("told", dims(1, 1), dims(4, 1), dims(4, 1));
    });
  }

  @ParameterizedTest
  @CsvSource({
    "ACCUMULATED_ELEMENT_COUNT_WITH_ZERO, 2, 0:2",
    "MAX_ELEMENT_COUNT_AS_SHAPE, 3, 0:0:0"
  })
  void batchInputsHaveAnySize(BatchInput.Kind kind, int size, String told) {
    Model model =
        nereid.load(
            ragged(plan(RaggedGpuTest::told), kind)
                .output("all", DataType.INT32, -1)
                .batchOutput(new BatchOutput(List.of("all"), "x"))
                .build());
    try (InferRequest request =
            model.newRequest().input("x", Tensor.ofFloats(numbers(size, 1), 1, size));
        InferResponse response = request.infer()) {
      String[] expected = told.split(":");
      assertEquals(expected.length, response.output("all").elementCount());
      for (int i = 0; i < expected.length; i++) {
        assertEquals(Integer.parseInt(expected[i]), response.output("all").intAt(i));
      }
    }
  }

  @Test
  void aConfigurationSaysWhatIsRagged() throws Exception {
    Path models =
        repository(
            plan(RaggedGpuTest::told),
            """
            max_batch_size: 4
            input { name: "x" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true }
            output { name: "y" data_type: TYPE_FP32 dims: [ -1 ] }
            output { name: "rows" data_type: TYPE_INT32 dims: [ 1 ] }
            batch_input {
              kind: BATCH_ELEMENT_COUNT target_name: "told" data_type: TYPE_INT32 source_input: "x"
            }
            batch_output {
              target_name: "y" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "x"
            }
            dynamic_batching { }
            """);
    try (Nereid own = Nereid.open(models)) {
      assertEquals(List.of(3, 4, 5, 6), inferAll(own.model("m"), 3, 4, 5, 6));
    }
  }

  @Test
  void aBatchWithMoreElementsThanTheProfileAllowsFails() throws Exception {
    Model model =
        nereid.load(
            ragged(plan(RaggedGpuTest::told), BatchInput.Kind.ELEMENT_COUNT)
                .dynamicBatching(BY_THREE)
                .output("rows", DataType.INT32, 1)
                .build());
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> inferAll(model, 10, 10, MOST - 19));
    NereidException cause = (NereidException) e.getCause();
    assertEquals(StatusCode.INVALID_ARGUMENT, cause.code());
    assertTrue(
        cause.getMessage().startsWith("no optimization profile allows the shapes: got x [25]"),
        cause.getMessage());
    assertEquals(List.of(10, 10, MOST - 20), inferAll(model, 10, 10, MOST - 20));
  }
}
