package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that execute on a GPU; skipped, with what is missing, where there is none. Each starts with
 * a runtime of its own and must leave no engine and no memory of the device in use.
 */
@Tag("gpu")
abstract class GpuTest {

  @TempDir Path directory;

  Nereid nereid;
  private long liveBytesBefore;

  @BeforeAll
  static void needsGpu() {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isEmpty(), () -> "needs a GPU with TensorRT: " + missing.orElseThrow());
  }

  @BeforeEach
  void open() {
    liveBytesBefore = memory().liveBytes();
    nereid = Nereid.create();
  }

  @AfterEach
  void nothingIsLeft() {
    if (nereid != null) {
      nereid.finishSequences(Duration.ZERO); // closing does not wait for those that tests leave
      nereid.close();
      assertEquals(0, Engines.count(), "engines that are loaded");
      assertEquals(liveBytesBefore, memory().liveBytes(), "memory of the device in use");
    }
  }

  static Gpu device() {
    return TensorRtLibrary.load().cuda().devices().getFirst();
  }

  static DevicePool memory() {
    return DevicePool.of(device());
  }

  /** Builds a plan. */
  Path plan(Consumer<NetworkBuilder> definition) {
    Path plan = directory.resolve("model.plan");
    CudaRuntime.check(cudart.cudaSetDevice(device().number()), "cudaSetDevice");
    try (NetworkBuilder builder = NetworkBuilder.create()) {
      builder.config().setBuilderOptimizationLevel(0);
      definition.accept(builder);
      builder.write(plan);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return plan;
  }

  /** A directory of models with one, {@code m}. */
  Path repository(Path plan, String config) throws IOException {
    Path model = directory.resolve("models/m");
    Files.createDirectories(model.resolve("1"));
    Files.copy(plan, model.resolve("1/model.plan"));
    Files.writeString(model.resolve("config.pbtxt"), config);
    return model.getParent();
  }

  /** A network whose FP32 output y is twice its input x, of rows of 4. */
  static void doubler(NetworkBuilder builder) {
    ITensor x = builder.input("x", DataType.kFLOAT, -1, 4);
    builder.output("y", builder.network().addElementWise(x, x, ElementWiseOperation.kSUM));
  }

  static NetworkBuilder rows(NetworkBuilder builder, long min, long opt, long max) {
    return builder.profile(profile ->
        profile.shapes(
            "x",
            NetworkBuilder.dims(min, 4),
            NetworkBuilder.dims(opt, 4),
            NetworkBuilder.dims(max, 4)));
  }

  /** An instance on the first GPU, also where there are more, with some of its profiles or all. */
  static InstanceGroup onFirstGpu(String... profiles) {
    return new InstanceGroup("g", InstanceGroup.Kind.GPU, 1, List.of(0), List.of(profiles));
  }

  static ModelSpec.Builder spec(Path plan) {
    return spec(plan, onFirstGpu());
  }

  private static ModelSpec.Builder spec(Path plan, InstanceGroup group) {
    // @start region="spec"
    return ModelSpec.builder("m")
        .backend("tensorrt")
        .parameter("model_path", plan.toString())
        .instances(group);
    // @end
  }

  static ModelSpec.Builder doublerSpec(Path plan, long maxBatchSize) {
    return doublerSpec(plan, maxBatchSize, onFirstGpu());
  }

  static ModelSpec.Builder doublerSpec(Path plan, long maxBatchSize, InstanceGroup group) {
    return spec(plan, group)
        .maxBatchSize(maxBatchSize)
        .input("x", io.nereid.types.DataType.FP32, 4)
        .output("y", io.nereid.types.DataType.FP32, 4);
  }

  /** Loads a model as its engine tells, without batches. */
  Model loadAsTold(Path plan, UnaryOperator<ModelSpec.Builder> settings) {
    ModelSpec opening = spec(plan).build();
    TensorRtBackend backend = new TensorRtBackend();
    try {
      ModelSignature told = backend.describe(opening).orElseThrow();
      ModelSpec.Builder spec = spec(plan);
      for (TensorSpec input : told.inputs()) {
        spec.input(input);
      }
      for (TensorSpec output : told.outputs()) {
        spec.output(output);
      }
      return nereid.load(settings.apply(spec).build());
    } finally {
      backend.loadEnded(opening);
    }
  }

  Model loadAsTold(Path plan) {
    return loadAsTold(plan, settings -> settings);
  }

  /** Sends a row of four and checks that twice that comes back. */
  static void assertDoubles(Model model, float first) {
    float[] values = {first, 1, -2, 0.5f};
    try (InferRequest request = model.newRequest().input("x", Tensor.ofFloats(values, 1, 4));
        InferResponse response = request.infer()) {
      Tensor y = response.output("y");
      for (int i = 0; i < values.length; i++) {
        assertEquals(2 * values[i], y.floatAt(i), "element " + i);
      }
    }
  }
}
