package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.types.NereidException;
import java.nio.file.Path;
import org.bytedeco.tensorrt.global.nvinfer.BuilderFlag;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.MatrixOperation;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;

/** Plans that are loaded in another way than most. */
class PlanKindsGpuTest extends GpuTest {

  private static final String BUDGET = "weight_streaming_bytes";

  /** Twice its input, by a product with weights. */
  private Path plan(BuilderFlag... flags) {
    return plan(builder -> {
      for (BuilderFlag flag : flags) {
        builder.config().setFlag(flag);
      }
      ITensor x = builder.input("x", DataType.kFLOAT, -1, 4);
      ITensor twos =
          builder.constant(new float[] {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2}, 4, 4);
      builder.output(
          "y",
          builder
              .network()
              .addMatrixMultiply(x, MatrixOperation.kNONE, twos, MatrixOperation.kNONE));
      rows(builder, 1, 2, 8);
    });
  }

  @Test
  void weightsAreStreamed() {
    Path plan = plan(BuilderFlag.kWEIGHT_STREAMING);
    for (String budget : new String[] {"0", "16", "auto", "1000000000"}) {
      Model model =
          nereid.load(
              doublerSpec(plan, 8)
                  .parameter(BUDGET, budget)
                  .parameter("optimization.cuda.graphs", "true")
                  .parameter("batches_in_flight", "1")
                  .build());
      assertDoubles(model, 1);
      assertDoubles(model, 2);
      if (!budget.equals("auto")) { // what comes of that the device's memory decides
        // Executions that stream wait for their stream, which cannot be captured.
        boolean streams = !budget.equals("1000000000");
        assertEquals(streams ? 0 : 1, TensorRtBackend.graphStatistics("m", 1).graphs(), budget);
      }
      model.unload();
    }
  }

  @Test
  void weightsThatWereNotMadeForItAreNotStreamed() {
    Path plan = plan();
    NereidException e =
        assertThrows(
            NereidException.class,
            () -> nereid.load(doublerSpec(plan, 8).parameter(BUDGET, "0").build()));
    assertTrue(e.getMessage().contains("was not built with weight streaming"), e.getMessage());
    assertEquals(0, Engines.count());
  }

  @Test
  void aPlanWithCodeOfItsOwnIsTrustedOnlyByItsParameter() {
    assumeTrue(
        LibraryFinder.ofSettings().named(TensorRtMajor.HERE.library("nvinfer_lean")).isPresent(),
        "needs TensorRT's lean runtime, which such a plan carries");
    Path plan = plan(BuilderFlag.kVERSION_COMPATIBLE);
    NereidException e =
        assertThrows(NereidException.class, () -> nereid.load(doublerSpec(plan, 8).build()));
    assertTrue(e.getMessage().contains("version_compatible: \"true\""), e.getMessage());
    assertDoubles(
        nereid.load(doublerSpec(plan, 8).parameter("version_compatible", "true").build()), 1);
  }
}
