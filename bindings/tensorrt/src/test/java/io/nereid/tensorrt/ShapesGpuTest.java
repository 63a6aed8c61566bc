package io.nereid.tensorrt;

import static io.nereid.tensorrt.NetworkBuilder.dims;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.IShuffleLayer;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;

/** Dynamic shapes in all their forms. */
class ShapesGpuTest extends GpuTest {

  private static float[] answer(Model model, String output, Tensor... inputs) {
    try (InferRequest request = model.newRequest()) {
      for (int i = 0; i < inputs.length; i++) {
        request.input(model.spec().inputs().get(i).name(), inputs[i]);
      }
      try (InferResponse response = request.infer()) {
        return response.output(output).toFloatArray();
      }
    }
  }

  @Test
  void aScalar() {
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT);
          builder.output("y", builder.network().addElementWise(x, x, ElementWiseOperation.kSUM));
        });
    assertArrayEquals(
        new float[] {7}, answer(loadAsTold(plan), "y", Tensor.ofFloats(new float[] {3.5f})));
  }

  @Test
  void anEmptyTensor() {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 0, 2, 4);
        });
    Model model =
        nereid.load(
            spec(plan)
                .input("x", io.nereid.types.DataType.FP32, -1, 4)
                .output("y", io.nereid.types.DataType.FP32, -1, 4)
                .build());
    assertEquals(0, answer(model, "y", Tensor.ofFloats(new float[0], 0, 4)).length);
    assertEquals(4, answer(model, "y", Tensor.ofFloats(new float[4], 1, 4)).length);
  }

  @Test
  void profilesAreChosenByShape() {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 1, 2);
          rows(builder, 4, 8, 8);
        });
    Model model = nereid.load(doublerSpec(plan, 8).build());
    for (int rows : new int[] {1, 2, 4, 8, 1}) {
      float[] values = new float[rows * 4];
      values[rows * 4 - 1] = rows;
      assertEquals(2 * rows, answer(model, "y", Tensor.ofFloats(values, rows, 4))[rows * 4 - 1]);
    }
    NereidException e =
        assertThrows(
            NereidException.class, () -> answer(model, "y", Tensor.ofFloats(new float[12], 3, 4)));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertTrue(e.getMessage().contains("no optimization profile allows"), e.getMessage());
    assertDoubles(model, 5);
  }

  @Test
  void rowsThatAreNotTheInputsMakeNoBatch() {
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT, -1, 4);
          IShuffleLayer column = builder.network().addShuffle(x);
          column.setReshapeDimensions(new Dims64().nbDims(2).d(0, -1).d(1, 1));
          builder.output("y", column);
          rows(builder, 1, 1, 8);
        });
    Model model = loadAsTold(plan);
    assertEquals(8, answer(model, "y", Tensor.ofFloats(new float[8], 2, 4)).length);
    model.unload();
    ModelSpec batched =
        spec(plan)
            .maxBatchSize(8)
            .input("x", io.nereid.types.DataType.FP32, 4)
            .output("y", io.nereid.types.DataType.FP32, 1)
            .build();
    NereidException e = assertThrows(NereidException.class, () -> nereid.load(batched));
    assertTrue(e.getMessage().contains("not that of the inputs"), e.getMessage());
  }

  @Test
  void theProfileThatIsNamedMayBeTheSmallerOne() {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 1024, 4096);
          rows(builder, 1, 2, 2);
        });
    assertDoubles(nereid.load(doublerSpec(plan, 2, onFirstGpu("1")).build()), 1);
  }

  @Test
  void aProfileCanBeNamed() {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 1, 2);
          rows(builder, 4, 8, 8);
        });
    assertThrows(
        NereidException.class, () -> nereid.load(doublerSpec(plan, 8, onFirstGpu("0")).build()));
    assertDoubles(nereid.load(doublerSpec(plan, 2, onFirstGpu("0")).build()), 1);
  }

  @Test
  void aShapeThatIsAnInput() {
    Path plan =
        plan(builder -> {
          ITensor data = builder.input("data", DataType.kFLOAT, -1);
          ITensor shape = builder.input("shape", DataType.kINT32, 2);
          IShuffleLayer reshape = builder.network().addShuffle(data);
          reshape.setInput(1, shape);
          builder.output("y", reshape);
          builder.profile(profile ->
              profile
                  .shapes("data", dims(1), dims(6), dims(16))
                  .values("shape", new int[] {1, 1}, new int[] {2, 3}, new int[] {16, 16}));
        });
    Model model = loadAsTold(plan);
    float[] values = {1, 2, 3, 4, 5, 6};
    for (int[] shape : new int[][] {{2, 3}, {3, 2}, {6, 1}, {2, 3}}) {
      try (InferRequest request =
              model
                  .newRequest()
                  .input("data", Tensor.ofFloats(values, 6))
                  .input("shape", Tensor.ofInts(shape, 2));
          InferResponse response = request.infer()) {
        assertArrayEquals(new long[] {shape[0], shape[1]}, response.output("y").shape());
        assertArrayEquals(values, response.output("y").toFloatArray());
      }
    }
    assertThrows(
        NereidException.class,
        () -> answer(model, "y", Tensor.ofFloats(values, 6), Tensor.ofInts(new int[] {1, 17}, 2)));
  }

  /** TensorRT writes it there itself, as late as it writes the others. */
  @Test
  void anOutputInTheProcessorsMemory() {
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT, -1, 4);
          builder.output("y", builder.network().addElementWise(x, x, ElementWiseOperation.kSUM));
          ITensor sizes = builder.output(builder.network().addShape(x));
          sizes.setName("sizes");
          builder.network().markOutputForShapes(sizes);
          rows(builder, 1, 1, 8);
        });
    Model model = loadAsTold(plan);
    for (int rows : new int[] {3, 1, 8}) {
      try (InferRequest request =
              model.newRequest().input("x", Tensor.ofFloats(new float[4 * rows], rows, 4));
          InferResponse response = request.infer()) {
        Tensor sizes = response.output("sizes");
        assertArrayEquals(new long[] {2}, sizes.shape());
        assertEquals(rows, sizes.longAt(0));
        assertEquals(4, sizes.longAt(1));
      }
    }
  }

  @Test
  void anOutputWhoseSizeDependsOnTheData() {
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT, -1);
          builder.output("positions", builder.network().addNonZero(x));
          builder.profile(profile -> profile.shapes("x", dims(1), dims(8), dims(1024)));
        });
    Model model = loadAsTold(plan);
    for (int count : new int[] {3, 0, 500, 1}) {
      float[] values = new float[1024];
      for (int i = 0; i < count; i++) {
        values[2 * i] = 1;
      }
      try (InferRequest request =
              model.newRequest().input("x", Tensor.ofFloats(values, values.length));
          InferResponse response = request.infer()) {
        Tensor positions = response.output("positions");
        assertArrayEquals(new long[] {1, count}, positions.shape());
        for (int i = 0; i < count; i++) {
          assertEquals(2 * i, positions.intAt(i));
        }
      }
    }
  }

  @Test
  void aPlanOfAnotherVersionIsRefusedWithBothVersions() throws Exception {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 1, 2);
        });
    byte[] bytes = Files.readAllBytes(plan);
    assertEquals(TensorRtLibrary.load().version().minor(), bytes[25], "minor version in the plan");
    bytes[25]++;
    Files.write(plan, bytes);
    NereidException e =
        assertThrows(NereidException.class, () -> nereid.load(doublerSpec(plan, 2).build()));
    assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    assertTrue(e.getMessage().contains("./nereid build"), e.getMessage());
  }
}
