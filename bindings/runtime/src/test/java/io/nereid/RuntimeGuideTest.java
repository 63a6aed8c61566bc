package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.ModelStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The examples that the runtime's packages show in their documentation. */
class RuntimeGuideTest {

  private static final Path FILE = Path.of("../../examples/models/digits/1/model.onnx");

  @Test
  void aFileIsRun() {
    Path file = FILE;
    // @start region="open"
    float[][][] images = new float[3][8][8];
    try (var nereid = Nereid.open(file);
        var request = nereid.model().newRequest().input("image", Tensor.ofArray(images));
        var response = request.infer()) {
      float[][] scores = response.output("scores").toFloatArray2d();
      assertEquals(3, scores.length);
    }
    // @end
  }

  @Test
  void requestsWaitOnNobody() {
    try (var nereid = Nereid.open(FILE)) {
      Model model = nereid.model();
      // @start region="async"
      CompletableFuture<Float> best;
      try (var request =
          model
              .newRequest()
              .input("image", Tensor.ofArray(new float[1][8][8]))
              .deadline(Duration.ofSeconds(30))) {
        best =
            request
                .inferAsync()
                .thenApply(response -> {
                  try (response) {
                    return response.output("scores").floatAt(0);
                  }
                });
        assertTrue(Float.isFinite(best.join()));
      }
      // @end
    }
  }

  @Test
  void failuresHaveACode() {
    try (var nereid = Nereid.open(FILE)) {
      // @start region="failure"
      try (var request = nereid.model().newRequest()) { // without its input
        NereidException e = assertThrows(NereidException.class, request::infer);
        assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      }
      // @end
    }
  }

  @Test
  void aModelIsDescribed() {
    // @start region="spec"
    ModelSpec halves =
        ModelSpec.builder("halves")
            .input("x", DataType.FP32, 4)
            .output("y", DataType.FP32, 4)
            .maxBatchSize(8)
            .dynamicBatching(DynamicBatching.create())
            .backend(context ->
                batch -> {
                  float[] values = batch.input("x").toFloatArray();
                  for (int i = 0; i < values.length; i++) {
                    values[i] /= 2;
                  }
                  batch.output("y", Tensor.ofFloats(values, batch.size(), 4));
                })
            .build();
    try (var nereid = Nereid.create()) {
      Model model = nereid.load(halves);
      try (var request =
              model.newRequest().input("x", Tensor.ofFloats(new float[] {2, 4, 6, 8}, 1, 4));
          var response = request.infer()) {
        assertArrayEquals(new float[] {1, 2, 3, 4}, response.output("y").toFloatArray());
      }
    }
    // @end
  }

  @Test
  void tensorsAreViews() {
    // @start region="tensor"
    Tensor rows = Tensor.ofArray(new float[][] {{1, 2, 3}, {4, 5, 6}}); // FP32 of 2 x 3
    assertArrayEquals(new long[] {2, 3}, rows.shape());
    assertArrayEquals(new float[] {4, 5, 6}, rows.row(1).toFloatArray()); // a view, no copy
    assertEquals(6, rows.reshape(6).floatAt(5));

    Tensor words = Tensor.of(List.of("sea", "nymph")); // BYTES of 2
    assertArrayEquals(new String[] {"sea", "nymph"}, words.toStringArray());
    // @end
  }

  @Test
  void figuresAreValues() {
    try (var nereid = Nereid.open(FILE)) {
      // @start region="statistics"
      Model model = nereid.model();
      ModelStatistics before = model.statistics();
      try (var request = model.newRequest().input("image", Tensor.ofArray(new float[2][8][8]));
          var response = request.infer()) {
        assertEquals(20, response.output("scores").toFloatArray().length);
      }
      ModelStatistics after = model.statistics();
      assertEquals(1, after.success().count() - before.success().count());
      assertEquals(2, after.inferenceCount() - before.inferenceCount()); // rows
      assertEquals(0, nereid.poolStatistics().liveBuffers()); // all were given back
      // @end
    }
  }
}
