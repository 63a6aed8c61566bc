package com.example.spark;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;

/** The bundled model, which recognises the digit in an image of 8x8 pixels. */
final class Digits {

  static final String NAME = "digits";

  static final int PIXELS = 64;

  private static final int CLASSES = 10;

  private Digits() {}

  /** The most images that one request may have. */
  static int maxBatch(Model model) {
    return (int) model.spec().maxBatchSize();
  }

  /**
   * Writes the digits of images into {@code digits}, from position {@code first} on.
   *
   * @param pixels native memory that stays valid until this returns, since the model reads it
   *     without a copy
   */
  static void infer(Model model, MemorySegment pixels, int[] digits, int first, int count) {
    try (InferRequest request = model.newRequest()) {
      request.input("image", Tensor.of(DataType.FP32, pixels, count, 8, 8));
      infer(request, digits, first, count);
    }
  }

  /** Does the same for a request with its input. */
  static void infer(InferRequest request, int[] digits, int first, int count) {
    try (InferResponse response = request.infer()) {
      MemorySegment scores = response.output("scores").segment();
      for (int i = 0; i < count; i++) {
        digits[first + i] = best(scores, (long) i * CLASSES);
      }
    }
  }

  private static int best(MemorySegment scores, long from) {
    int best = 0;
    for (int i = 1; i < CLASSES; i++) {
      if (scores.getAtIndex(JAVA_FLOAT, from + i) > scores.getAtIndex(JAVA_FLOAT, from + best)) {
        best = i;
      }
    }
    return best;
  }
}
