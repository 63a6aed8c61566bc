package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.management.ThreadMXBean;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorMath;
import io.nereid.types.DataType;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Scores are read as an independent computation over arrays reads them. */
class TensorMathTest {

  private static final Tensor ROWS = Tensor.ofArray(new float[][] {{1, 3, 2}, {9, 8, 9}});

  @Test
  void theGreatestIsFoundInAllAndInARow() {
    assertEquals(3, TensorMath.argMax(ROWS));
    assertEquals(1, TensorMath.argMax(ROWS, 0));
    assertEquals(0, TensorMath.argMax(ROWS, 1));
    assertEquals(2, TensorMath.argMax(Tensor.ofFloats(new float[] {Float.NaN, -5, -4}, 3)));
    assertEquals(1, TensorMath.argMax(Tensor.ofHalfFloats(DataType.FP16, new float[] {1, 2}, 2)));
    assertThrows(IndexOutOfBoundsException.class, () -> TensorMath.argMax(ROWS, 2));
    assertThrows(
        IllegalStateException.class, () -> TensorMath.argMax(Tensor.ofInts(new int[] {1, 2}, 2)));
  }

  @Test
  void softmaxSumsToOne() {
    float[] to =
        TensorMath.softmax(Tensor.ofFloats(new float[] {1000, 1000, 999}, 3), new float[3]);
    double less = Math.exp(-1);
    assertArrayEquals(
        new float[] {
          (float) (1 / (2 + less)), (float) (1 / (2 + less)), (float) (less / (2 + less))
        },
        to,
        1e-6f);
    assertThrows(IllegalArgumentException.class, () -> TensorMath.softmax(ROWS, 0, new float[4]));
  }

  @Test
  void theBestAreThoseOfASort() {
    Random random = new Random(1);
    for (int round = 0; round < 200; round++) {
      int count = random.nextInt(50);
      float[] scores = new float[count];
      for (int i = 0; i < count; i++) {
        scores[i] = random.nextInt(20);
      }
      int[] sorted =
          IntStream.range(0, count)
              .boxed()
              .sorted(Comparator.comparing((Integer i) -> -scores[i]).thenComparing(i -> i))
              .mapToInt(i -> i)
              .toArray();
      int[] best = new int[random.nextInt(60)];
      int found = TensorMath.topK(Tensor.ofFloats(scores, count), best);
      assertArrayEquals(
          Arrays.copyOf(sorted, Math.min(count, best.length)), Arrays.copyOf(best, found));
    }
  }

  @Test
  void boxesThatOverlapABetterOneAreLeftOut() {
    Tensor boxes =
        Tensor.ofArray(
            new float[][] {
              {0, 0, 10, 10}, {1, 1, 11, 11}, {20, 20, 30, 30}, {0, 0, 10, 4}, {20, 20, 30, 31}
            });
    Tensor scores = Tensor.ofFloats(new float[] {0.8f, 0.9f, 0.3f, 0.7f, 0.1f}, 5);
    int[] kept = new int[5];
    assertEquals(3, TensorMath.nonMaxSuppression(boxes, scores, 0.2f, 0.5f, kept));
    assertArrayEquals(new int[] {1, 3, 2}, Arrays.copyOf(kept, 3));
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorMath.nonMaxSuppression(scores, boxes, 0, 0, kept));
  }

  @Test
  void nothingIsAllocated() {
    Tensor scores = Tensor.ofFloats(new float[1000], 10, 100);
    Tensor boxes = Tensor.ofFloats(new float[4000], 1000, 4);
    float[] to = new float[100];
    int[] best = new int[20];
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long calls = 0;
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 200 && least > 0; round++) { // until it is compiled
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 200; i++) {
        calls += TensorMath.argMax(scores, i % 10);
        calls += TensorMath.topK(scores, i % 10, best);
        calls += TensorMath.softmax(scores, i % 10, to).length;
        calls += TensorMath.nonMaxSuppression(boxes, scores, 0, 0.5f, best);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertEquals(0, least, "bytes in 800 calls, after " + calls);
  }
}
