package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorMath;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Models as functions of records. */
class PredictorTest extends RuntimeTest {

  record Image(float[][] image) {}

  record Images(float[][][] image) {}

  record Pixels(float[] image) {}

  record Scores(float[] scores) {}

  record Views(Tensor scores) {}

  private Model digits() {
    return nereid.load(ModelSpec.onnx(Path.of("../../examples/models/digits/1/model.onnx")));
  }

  @Test
  void aModelIsAFunctionOfRecords() {
    Model digits = digits();
    // @start region="predict"
    // record Image(float[][] image) {}
    // record Scores(float[] scores) {}
    Predictor<Image, Scores> predictor = Predictor.of(digits, Image.class, Scores.class);
    Scores scores = predictor.predict(new Image(new float[8][8]));
    // @end
    assertEquals(10, scores.scores().length);
    assertArrayEquals(
        scores.scores(),
        Predictor.of(digits, Pixels.class, Scores.class)
            .predict(new Pixels(new float[64]))
            .scores());
    assertEquals(
        30,
        Predictor.of(digits, Images.class, Scores.class)
            .predict(new Images(new float[3][8][8]))
            .scores()
            .length);
  }

  @Test
  void tensorsAreViewsOfTheResponse() {
    Predictor<Image, Views> predictor = Predictor.of(digits(), Image.class, Views.class);
    Image blank = new Image(new float[8][8]);
    Views kept;
    try (var request =
            predictor.fill(nereid.model().newRequest().deadline(Duration.ofSeconds(30)), blank);
        var response = request.infer()) {
      kept = predictor.read(response);
      assertTrue(TensorMath.argMax(kept.scores()) < 10);
    }
    assertClosed(() -> kept.scores().floatAt(0));
    var e = assertThrows(IllegalStateException.class, () -> predictor.predict(blank));
    assertEquals(
        "component 'scores' of record Views is a view that ends with the response:"
            + " use fill(…), infer() and read(…)",
        e.getMessage());
  }

  record Everything(
      boolean flag, byte small, short medium, int number, long large, double exact, String text) {}

  @Test
  void singleValuesOfAllTypesComeBackAsTheyWent() {
    ModelSpec.Builder spec = ModelSpec.builder("all").maxBatchSize(4);
    List<DataType> types =
        List.of(
            DataType.BOOL,
            DataType.UINT8,
            DataType.INT16,
            DataType.UINT32,
            DataType.INT64,
            DataType.FP64,
            DataType.BYTES);
    var names = Everything.class.getRecordComponents();
    for (int i = 0; i < names.length; i++) {
      spec.input(names[i].getName(), types.get(i), 1).output(names[i].getName(), types.get(i), 1);
    }
    spec.backend(context ->
        batch -> {
          for (var name : names) {
            batch.output(name.getName(), batch.input(name.getName()));
          }
        });
    var predictor = Predictor.of(nereid.load(spec.build()), Everything.class, Everything.class);
    var values = new Everything(true, (byte) -1, (short) -2, -3, 1L << 40, 0.1, "nymph");
    assertEquals(values, predictor.predict(values));
  }

  record Halves(float[] IN) {}

  record HalvesOut(float[][] OUT) {}

  @Test
  void halfPrecisionIsConverted() {
    Model model =
        nereid.load(
            ModelSpec.builder("half")
                .backend("identity")
                .maxBatchSize(8)
                .input("IN", DataType.FP16, 2)
                .output("OUT", DataType.FP16, 2)
                .build());
    var predictor = Predictor.of(model, Halves.class, HalvesOut.class);
    float[][] out = predictor.predict(new Halves(new float[] {1, 2, 3, 4})).OUT();
    assertArrayEquals(new float[][] {{1, 2}, {3, 4}}, out);
  }

  record Buffers(FloatBuffer IN) {}

  record Out(float[] OUT) {}

  @Test
  void buffersAreInputs() {
    var predictor = Predictor.of(nereid.load(identity("m").build()), Buffers.class, Out.class);
    FloatBuffer buffer = FloatBuffer.wrap(new float[] {1, 2, 3, 4});
    assertArrayEquals(buffer.array(), predictor.predict(new Buffers(buffer)).OUT());
  }

  record Named(float[] pixel_values, float[] mask) {}

  record NamedOut(float[] _0_out) {}

  @Test
  void namesThatJavaHasNotAreWrittenWithUnderscoresAndOptionalInputsLeftOut() {
    boolean[] hadMask = new boolean[1];
    Model model =
        nereid.load(
            ModelSpec.builder("named")
                .input("pixel-values", DataType.FP32, 2)
                .input(TensorSpec.of("mask", DataType.FP32, 2).asOptional())
                .output("0.out", DataType.FP32, 2)
                .output("unwanted", DataType.FP32, 2)
                .backend(context ->
                    batch -> {
                      hadMask[0] = batch.hasInput("mask");
                      batch.output("0.out", batch.input("pixel-values"));
                      batch.output("unwanted", batch.input("pixel-values"));
                    })
                .build());
    var predictor = Predictor.of(model, Named.class, NamedOut.class);
    float[] values = {1, 2};
    assertArrayEquals(values, predictor.predict(new Named(values, null))._0_out());
    assertEquals(false, hadMask[0]);
    predictor.predict(new Named(values, values));
    assertEquals(true, hadMask[0]);
    try (var request = predictor.fill(model.newRequest(), new Named(values, null));
        var response = request.infer()) {
      assertEquals(List.of("0.out"), response.outputNames());
    }
    var e =
        assertThrows(NullPointerException.class, () -> predictor.predict(new Named(null, values)));
    assertEquals("component 'pixel_values' of record Named must not be null", e.getMessage());
  }

  record Score(float[] score) {}

  record Doubles(double[] scores) {}

  record Deep(float[][][][][] image) {}

  record One(float image) {}

  record None() {}

  @Test
  void everyMisfitIsToldWhenThePredictorIsMade() {
    Model digits = digits();
    String image = "input 'image' of model 'model', FP32 [-1, 8, 8]: expected ";
    assertMisfit(
        "expected component 'score' of record Score to be an output of model 'model', it has"
            + " scores; did you mean scores?",
        () -> Predictor.of(digits, Image.class, Score.class));
    assertMisfit(
        "component 'scores' of record Doubles does not fit output 'scores' of model 'model',"
            + " FP32 [-1, 10]: expected elements of float, got double[]",
        () -> Predictor.of(digits, Image.class, Doubles.class));
    assertMisfit(
        "component 'image' of record Deep does not fit "
            + image
            + "an array with 3 dimensions, got float[][][][][]",
        () -> Predictor.of(digits, Deep.class, Scores.class));
    assertMisfit(
        "component 'image' of record One does not fit "
            + image
            + "an array or a Tensor, got a single float",
        () -> Predictor.of(digits, One.class, Scores.class));
    assertMisfit(
        "record None lacks a component for input 'image' (FP32 [-1, 8, 8]) of model 'model'",
        () -> Predictor.of(digits, None.class, Scores.class));
  }

  private static void assertMisfit(String message, org.junit.jupiter.api.function.Executable made) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, made).getMessage());
  }

  @Test
  void aWrongNumberOfElementsIsTheCallersMistake() {
    Predictor<Pixels, Scores> predictor = Predictor.of(digits(), Pixels.class, Scores.class);
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "component 'image' of record Pixels has 63 elements: input 'image' of model 'model' is"
            + " FP32 [-1, 8, 8], which takes a multiple of 64",
        () -> predictor.predict(new Pixels(new float[63])));
  }

  record In(float[] IN) {}

  @Test
  void aReloadIsCheckedAnew() {
    Model model = nereid.load(identity("m").build());
    var predictor = Predictor.of(model, In.class, Out.class);
    assertEquals(4, predictor.predict(new In(new float[4])).OUT().length);
    nereid.load(
        ModelSpec.builder("m")
            .backend("identity")
            .input("IN", DataType.FP32, 6)
            .output("OUT", DataType.FP32, 6)
            .build());
    assertEquals(6, predictor.predict(new In(new float[6])).OUT().length);
    nereid.load(
        ModelSpec.builder("m")
            .backend("identity")
            .input("IN", DataType.INT32, 6)
            .output("OUT", DataType.INT32, 6)
            .build());
    assertThrows(IllegalArgumentException.class, () -> predictor.predict(new In(new float[6])));
    assertNull(nereid.model("m").failure().orElse(null));
  }
}
