package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EngineBuilderTest {

  private static final NetworkSource IDENTITY =
      (network, scope) -> {
        ITensor input =
            network.addInput(
                "in", nvinfer.DataType.kFLOAT, new Dims64().nbDims(2).d(0, -1).d(1, 4));
        ITensor output = network.addIdentity(input).getOutput(0);
        output.setName("out");
        network.markOutput(output);
      };

  @TempDir Path directory;

  @Test
  void aMissingLibraryIsToldInOneLine() {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isPresent(), "this machine has a GPU, CUDA and TensorRT");
    var e =
        assertThrows(
            NereidException.class,
            () ->
                EngineBuilder.build(
                    IDENTITY,
                    BuildOptions.builder().build(),
                    directory.resolve("model.plan"),
                    BuildProgress.NONE));
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertEquals(missing.get(), e.getMessage());
    assertEquals(1, e.getMessage().lines().count());
    assertFalse(Files.exists(directory.resolve("model.plan")));
  }

  @Test
  void anOnnxFileMustBeThere() {
    var e = assertThrows(NereidException.class, () -> new OnnxFile(directory.resolve("no.onnx")));
    assertEquals(StatusCode.NOT_FOUND, e.code());
    assertTrue(e.getMessage().contains("no.onnx"), e.getMessage());
  }

  @Test
  void strongTypesAndPrecisionsExcludeEachOther() {
    var options = BuildOptions.builder().stronglyTyped(true).precision(Precision.FP16);
    assertThrows(IllegalArgumentException.class, options::build);
    assertThrows(
        IllegalArgumentException.class, () -> BuildOptions.builder().weightStreaming(true).build());
  }

  @Test
  @Tag("gpu")
  void buildsFromJava() throws Exception {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isEmpty(), () -> "needs a GPU: " + missing.orElseThrow());
    Path plan = directory.resolve("model.plan");
    BuildFraction progress = new BuildFraction();
    BuiltEngine engine =
        EngineBuilder.build(
            IDENTITY,
            BuildOptions.builder()
                .profiles(List.of(List.of(ShapeRange.parse("in=1x4:2x4:8x4"))))
                .timingCache(directory.resolve("timing.cache"))
                .build(),
            plan,
            progress);
    assertEquals(engine.planBytes(), Files.size(plan));
    assertEquals(8, engine.signature().maxBatchSize());
    assertEquals(DataType.FP32, engine.signature().inputs().getFirst().dataType());
    assertTrue(Files.size(directory.resolve("timing.cache")) > 0);
    assertTrue(engine.latency().isPresent(), "its time is measured");
  }

  @Test
  @Tag("gpu")
  void theTimeIsMeasuredAlsoWhereTheDataDecideOnSizes() throws Exception {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isEmpty(), () -> "needs a GPU: " + missing.orElseThrow());
    NetworkSource positions =
        (network, scope) -> {
          ITensor input =
              network.addInput("in", nvinfer.DataType.kFLOAT, new Dims64().nbDims(1).d(0, -1));
          ITensor output = network.addNonZero(input).getOutput(0);
          output.setName("out");
          network.markOutput(output);
        };
    BuildOptions options =
        BuildOptions.builder().profiles(List.of(List.of(ShapeRange.parse("in=1:8:16")))).build();
    BuiltEngine engine =
        EngineBuilder.build(
            positions, options, directory.resolve("model.plan"), BuildProgress.NONE);
    assertTrue(engine.latency().isPresent(), "its time is measured");
  }
}
