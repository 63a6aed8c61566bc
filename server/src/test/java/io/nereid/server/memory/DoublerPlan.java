package io.nereid.server.memory;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.model.ModelSpec;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.BuildProgress;
import io.nereid.tensorrt.builder.EngineBuilder;
import io.nereid.tensorrt.builder.ShapeRange;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ITensor;

/**
 * A model "doubler" of TensorRT, which reads and writes tensors on the GPU where they lie: OUT is
 * twice IN, of so many INT32 as come.
 */
public final class DoublerPlan {

  private DoublerPlan() {}

  /** Builds it; skips the test where there is no GPU with TensorRT. */
  public static ModelSpec.Builder build(Path directory, int mostElements) throws IOException {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isEmpty(), () -> "needs a GPU with TensorRT: " + missing.orElseThrow());
    Path plan = directory.resolve("doubler.plan");
    EngineBuilder.build(
        (network, scope) -> {
          ITensor in =
              network.addInput("IN", nvinfer.DataType.kINT32, new Dims64().nbDims(1).d(0, -1));
          ITensor out = network.addElementWise(in, in, ElementWiseOperation.kSUM).getOutput(0);
          out.setName("OUT");
          network.markOutput(out);
        },
        BuildOptions.builder()
            .stronglyTyped(true)
            .profiles(
                List.of(List.of(ShapeRange.parse("IN=1:" + mostElements + ":" + mostElements))))
            .build(),
        plan,
        BuildProgress.NONE);
    return ModelSpec.builder("doubler")
        .backend("tensorrt")
        .parameter("model_path", plan.toString())
        .input("IN", DataType.INT32, -1)
        .output("OUT", DataType.INT32, -1);
  }

  /** Checks that what begins at {@code out} is twice what begins at {@code in}. */
  public static void assertDoubled(byte[] contents, int in, int out, int byteSize) {
    ByteBuffer ints = ByteBuffer.wrap(contents).order(LITTLE_ENDIAN);
    for (int i = 0; i < byteSize; i += Integer.BYTES) {
      assertEquals(2 * ints.getInt(in + i), ints.getInt(out + i), "at byte " + i);
    }
  }
}
