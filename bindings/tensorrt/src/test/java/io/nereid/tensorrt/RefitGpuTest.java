package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.tensor.Tensor;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.BuildProgress;
import io.nereid.tensorrt.builder.EngineBuilder;
import io.nereid.tensorrt.builder.OnnxFile;
import io.nereid.tensorrt.builder.ShapeRange;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.tensorrt.global.nvinfer.BuilderFlag;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.global.nvinfer.MatrixOperation;
import org.bytedeco.tensorrt.nvinfer.ILayer;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;

/** Plans whose weights lie in a file beside them. */
class RefitGpuTest extends GpuTest {

  private static final Path DIGITS = Path.of("../../examples/models/digits/1/model.onnx");

  private static final BuilderFlag[] STRIPPED = {BuilderFlag.kREFIT, BuilderFlag.kSTRIP_PLAN};

  /** Twice its input: a product with the weights 'factors', and a sum with the weights 'shift'. */
  static void weighted(NetworkBuilder builder, BuilderFlag... flags) {
    for (BuilderFlag flag : flags) {
      builder.config().setFlag(flag);
    }
    ITensor x = builder.input("x", DataType.kFLOAT, -1, 4);
    ITensor factors = builder.weights("factors", factors(2), 4, 4);
    ILayer product =
        builder
            .network()
            .addMatrixMultiply(x, MatrixOperation.kNONE, factors, MatrixOperation.kNONE);
    ITensor shift = builder.weights("shift", new float[4], 1, 4);
    builder.output(
        "y",
        builder
            .network()
            .addElementWise(builder.output(product), shift, ElementWiseOperation.kSUM));
    rows(builder, 1, 2, 8);
  }

  private Path plan(BuilderFlag... flags) {
    return plan(builder -> weighted(builder, flags));
  }

  private static float[] factors(float factor) {
    float[] all = new float[16];
    for (int i = 0; i < 4; i++) {
      all[5 * i] = factor;
    }
    return all;
  }

  /** A file of safetensors with both, whose header has blanks at its end. */
  static Path weights(Path file, float factor, int blanks) throws IOException {
    String header =
        "{\"factors\":{\"dtype\":\"F32\",\"shape\":[4,4],\"data_offsets\":[0,64]},"
            + "\"shift\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[64,80]}}"
            + " ".repeat(blanks);
    byte[] bytes = SafeTensorsTest.file(header, 80);
    ByteBuffer data = ByteBuffer.wrap(bytes, bytes.length - 80, 80).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : factors(factor)) {
      data.putFloat(value);
    }
    data.putLong(0).putLong(0);
    Path written = Files.write(file.resolveSibling("new"), bytes);
    return Files.move(written, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private Path beside(String header, int dataBytes) throws IOException {
    return Files.write(
        directory.resolve("model.safetensors"), SafeTensorsTest.file(header, dataBytes));
  }

  private String failure(Path plan) {
    NereidException e =
        assertThrows(NereidException.class, () -> nereid.load(doublerSpec(plan, 8).build()));
    assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    assertEquals(1, e.getMessage().lines().count(), e.getMessage());
    assertEquals(0, Engines.count());
    return e.getMessage();
  }

  /** The first value that a model makes of 1. */
  private static float answer(Model model) {
    try (InferRequest request =
            model.newRequest().input("x", Tensor.ofFloats(new float[] {1, 1, 1, 1}, 1, 4));
        InferResponse response = request.infer()) {
      return response.output("y").floatAt(0);
    }
  }

  @Test
  void aStrippedPlanGetsTheWeightsBesideIt() throws IOException {
    Path whole = Files.copy(plan(), directory.resolve("whole"));
    Path stripped = plan(STRIPPED);
    assertTrue(Files.size(stripped) < Files.size(whole), "it is smaller");
    weights(directory.resolve("model.safetensors"), 2, 0);
    assertDoubles(nereid.load(doublerSpec(stripped, 8).build()), 3);
  }

  @Test
  void weightsAtAnyPlaceOfTheFileAreTaken() throws IOException {
    Path plan = plan(STRIPPED);
    for (int blanks = 0; blanks < 8; blanks++) {
      weights(directory.resolve("model.safetensors"), 2, blanks);
      Model model = nereid.load(doublerSpec(plan, 8).build());
      assertDoubles(model, blanks);
      model.unload();
    }
  }

  @Test
  void theParameterNamesAnotherFileOrNone() throws IOException {
    Path plan = plan(BuilderFlag.kREFIT);
    weights(directory.resolve("model.safetensors"), 3, 0);
    weights(directory.resolve("tuned.safetensors"), 5, 0);
    for (String[] named : new String[][] {{"", "3"}, {"tuned.safetensors", "5"}, {"none", "2"}}) {
      Model model = nereid.load(doublerSpec(plan, 8).parameter("weights", named[0]).build());
      assertEquals(Float.parseFloat(named[1]), answer(model), named[0]);
      model.unload();
    }
    for (String wrong : new String[] {"../x.safetensors", "x.bin"}) {
      NereidException e =
          assertThrows(
              NereidException.class,
              () -> nereid.load(doublerSpec(plan, 8).parameter("weights", wrong).build()));
      assertTrue(e.getMessage().contains("a file beside the plan that ends with"), e.getMessage());
    }
  }

  @Test
  void aReloadOfTheWeightsAloneGoesOnServingMeanwhile() throws Exception {
    Path repository = repository(plan(STRIPPED), "platform: \"tensorrt_plan\"\n");
    Path weights = repository.resolve("m/1/model.safetensors");
    weights(weights, 2, 0);
    nereid.close();
    nereid = Nereid.open(RepositoryOptions.builder().repository(repository).explicit("m").build());
    Model model = nereid.model("m");
    AtomicBoolean loaded = new AtomicBoolean();
    CountDownLatch asked = new CountDownLatch(100);
    CompletableFuture<List<Float>> answers =
        CompletableFuture.supplyAsync(() -> {
          List<Float> all = new ArrayList<>();
          while (!loaded.get()) {
            all.add(answer(model));
            asked.countDown();
          }
          return all;
        });
    assertTrue(asked.await(1, TimeUnit.MINUTES));
    for (int factor = 3; factor <= 6; factor++) {
      weights(weights, factor, 0);
      nereid.repository().load("m");
      assertEquals(factor, answer(model));
    }
    loaded.set(true);
    float before = 2;
    for (float answer : answers.get(1, TimeUnit.MINUTES)) {
      assertTrue(answer >= before && answer <= 6, "the answer " + answer + " after " + before);
      before = answer;
    }
    // A file that does not fit leaves the old engine as it is.
    Files.write(weights, SafeTensorsTest.file("{}", 0));
    assertThrows(NereidException.class, () -> nereid.repository().load("m"));
    assertEquals(6, answer(model));
  }

  @Test
  void anOnnxFileGivesItsWeights() throws IOException {
    float[] expected = null;
    for (boolean stripped : new boolean[] {false, true}) {
      Path plan = directory.resolve(stripped + "/model.plan");
      Files.createDirectories(plan.getParent());
      EngineBuilder.build(
          new OnnxFile(DIGITS),
          BuildOptions.builder()
              .profiles(List.of(List.of(ShapeRange.parse("image=1x8x8:2x8x8:8x8x8"))))
              .stripped(stripped)
              .build(),
          plan,
          BuildProgress.NONE);
      if (stripped) {
        Files.copy(DIGITS, plan.resolveSibling("model.onnx"));
      }
      Model model = loadAsTold(plan);
      float[] image = new float[64];
      for (int i = 0; i < image.length; i++) {
        image[i] = i % 9;
      }
      String input = model.spec().inputs().getFirst().name();
      String output = model.spec().outputs().getFirst().name();
      try (InferRequest request = model.newRequest().input(input, Tensor.ofFloats(image, 1, 8, 8));
          InferResponse response = request.infer()) {
        float[] got = response.output(output).toFloatArray();
        if (expected != null) {
          assertArrayEquals(expected, got);
        }
        expected = got;
      }
      model.unload();
    }
  }

  @Test
  void anOnnxFileOfAnotherModelIsRefused() throws IOException {
    Path plan = plan(STRIPPED);
    Files.copy(DIGITS, directory.resolve("model.onnx"));
    String said = failure(plan);
    assertTrue(said.contains("TensorRT cannot take the weights of "), said);
    assertTrue(said.contains("Failed to refit all the weights"), said);
  }

  @Test
  void aStrippedPlanWithoutWeightsIsNotServed() {
    String said = failure(plan(STRIPPED));
    assertTrue(said.contains("stripped of its weights: expected model.safetensors or"), said);
  }

  @Test
  void aPlanThatKeepsItsWeightsTakesNoOthers() throws IOException {
    Path plan = plan();
    Files.copy(DIGITS, directory.resolve("model.onnx")); // what plans are built from lies there
    assertDoubles(nereid.load(doublerSpec(plan, 8).build()), 1);
    nereid.model("m").unload();
    weights(directory.resolve("model.safetensors"), 3, 0);
    String said = failure(plan);
    assertTrue(said.contains("not built to take the weights of model.safetensors"), said);
    assertTrue(said.endsWith("./nereid build model.onnx -o " + plan + " --refit"), said);
  }

  @Test
  void namesTypesAndSizesMustBeThoseOfTheNetwork() throws IOException {
    Path plan = plan(BuilderFlag.kREFIT);
    beside("{\"x.factors\":{\"dtype\":\"F32\",\"shape\":[4,4],\"data_offsets\":[0,64]}}", 64);
    String said = failure(plan);
    assertTrue(
        said.contains(
            "expected in model.safetensors the weights 'factors', 'shift', which has 'x.factors'"
                + " instead"),
        said);
    String shift = ",\"shift\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[";
    beside(
        "{\"factors\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,48]}"
            + shift
            + "48,64]}}",
        64);
    said = failure(plan);
    assertTrue(said.contains("expected 16 values of FLOAT as 'factors'"), said);
    assertTrue(said.contains("got 12 of F32 (shape [3, 4])"), said);
    beside(
        "{\"factors\":{\"dtype\":\"F16\",\"shape\":[4,4],\"data_offsets\":[0,32]}"
            + shift
            + "32,48]}}",
        48);
    said = failure(plan);
    assertTrue(said.contains("got 16 of F16 (shape [4, 4])"), said);
  }
}
