package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The plan for copying inputs to the device. */
class CopyPlanTest {

  @ParameterizedTest
  @CsvSource({
    "1, 0, 100, NONE",
    "3, 0, 100, NONE",
    "1, 1, 100, EACH",
    "1, 1000000, 100, EACH",
    "2, 198, 100, GATHERED",
    "2, 200, 100, EACH",
    "2, 2, 0, EACH",
    "32, 19267584, 65536, EACH",
  })
  void smallInputsAreGatheredAndLargeOnesCopiedAlone(
      int requests, long byteSize, long threshold, CopyPlan plan) {
    assertEquals(plan, CopyPlan.of(requests, byteSize, threshold));
  }

  @Test
  void rowsOfTheBatchTakeThePlaceOfTheRequests() {
    BackendShape shape = new BackendShape(TensorSpec.of("x", DataType.FP32, -1, 4), true);
    assertArrayEquals(new long[] {7, 5, 4}, shape.of(new long[] {2, 5, 4}, 7));
  }

  @Test
  void withoutABatchTheShapeIsWhatWasSent() {
    BackendShape shape = new BackendShape(TensorSpec.of("x", DataType.FP32, -1), false);
    assertArrayEquals(new long[] {3}, shape.of(new long[] {3}, 0));
    BackendShape scalar =
        new BackendShape(TensorSpec.of("x", DataType.FP32, 1).withReshape(), false);
    assertArrayEquals(new long[0], scalar.of(new long[] {1}, 0));
  }

  @Test
  void freeDimensionsOfAReshapeTakeTheirCounterpartsSizes() {
    BackendShape shape =
        new BackendShape(
            TensorSpec.of("x", DataType.FP32, -1, 6, -1).withReshape(-1, 2, 3, -1), true);
    assertArrayEquals(new long[] {4, 5, 2, 3, 9}, shape.of(new long[] {1, 5, 6, 9}, 4));
  }
}
