package io.nereid.tensor;

import io.nereid.internal.Checks;
import java.util.Objects;

/**
 * Evaluates scores in the model's memory, without copies or allocations. A row is the last
 * dimension: a tensor of 32 x 10 has 32 rows; methods without a row take the whole tensor as one.
 * Scores are FP32, FP64, FP16 or BF16, and NaN is less than all others. Any thread may call as long
 * as the owner of the tensor is open.
 */
public final class TensorMath {

  private static final int CORNERS = 4;

  private TensorMath() {}

  /** The position of the greatest score, the first of equal ones. */
  public static int argMax(Tensor scores) {
    return argMax(scores, 0, count(scores));
  }

  /** The position of the greatest score within a row, the first of equal ones. */
  public static int argMax(Tensor scores, long row) {
    return argMax(scores, first(scores, row), rowSize(scores));
  }

  private static int argMax(Tensor scores, long from, int count) {
    if (count == 0) {
      throw new IllegalArgumentException("expected at least one score, got none");
    }
    int best = 0;
    for (int i = 1; i < count; i++) {
      best = isBetter(scores, from, i, best) ? i : best;
    }
    return best;
  }

  /** Writes the softmax of all scores, which sums to 1; returns {@code to}. */
  public static float[] softmax(Tensor scores, float[] to) {
    return softmax(scores, 0, count(scores), to);
  }

  /** Writes the softmax of a row's scores, which sums to 1; returns {@code to}. */
  public static float[] softmax(Tensor scores, long row, float[] to) {
    return softmax(scores, first(scores, row), rowSize(scores), to);
  }

  private static float[] softmax(Tensor scores, long from, int count, float[] to) {
    if (Checks.notNull(to, "to").length != count) {
      throw new IllegalArgumentException(
          "expected an array of " + count + " elements, got one of " + to.length);
    }
    if (count == 0) {
      return to;
    }
    double greatest = at(scores, from + argMax(scores, from, count));
    double sum = 0;
    for (int i = 0; i < to.length; i++) {
      double power = Math.exp(at(scores, from + i) - greatest);
      to[i] = (float) power;
      sum += power;
    }
    for (int i = 0; i < to.length; i++) {
      to[i] = (float) (to[i] / sum);
    }
    return to;
  }

  /**
   * Writes the positions of the greatest scores, the greatest first, of equal ones the earlier.
   *
   * @param best has room for as many as are wanted
   * @return their number, which is smaller than the room if there are fewer scores
   */
  public static int topK(Tensor scores, int[] best) {
    return best(scores, 0, count(scores), Double.NEGATIVE_INFINITY, best);
  }

  /** Writes the positions of the greatest scores within a row, as {@link #topK(Tensor, int[])}. */
  public static int topK(Tensor scores, long row, int[] best) {
    long from = first(scores, row);
    return best(scores, from, rowSize(scores), Double.NEGATIVE_INFINITY, best);
  }

  /**
   * Writes the numbers of the boxes that stay when each box that overlaps a better one is left out,
   * the best first.
   *
   * @param boxes of n x 4: left, top, right and bottom of each
   * @param scores n of them
   * @param minScore the least score of a box
   * @param maxOverlap the largest intersection over union of two boxes that stay
   * @param kept has room for the considered boxes, which are the best
   * @return the number of boxes that stay
   */
  public static int nonMaxSuppression(
      Tensor boxes, Tensor scores, float minScore, float maxOverlap, int[] kept) {
    int rated = count(scores);
    if (count(boxes) != rated * CORNERS) {
      throw new IllegalArgumentException(
          "expected boxes of shape [" + rated + ", 4] for as many scores, got " + boxes);
    }
    int candidates = best(scores, 0, rated, minScore, kept);
    int count = 0;
    for (int i = 0; i < candidates; i++) {
      int box = kept[i];
      boolean stays = true;
      for (int j = 0; j < count && stays; j++) {
        stays = overlap(boxes, kept[j] * CORNERS, box * CORNERS) <= maxOverlap;
      }
      if (stays) {
        kept[count++] = box;
      }
    }
    return count;
  }

  private static double overlap(Tensor boxes, int one, int other) {
    double wide =
        Math.min(at(boxes, one + 2), at(boxes, other + 2))
            - Math.max(at(boxes, one), at(boxes, other));
    double high =
        Math.min(at(boxes, one + 3), at(boxes, other + 3))
            - Math.max(at(boxes, one + 1), at(boxes, other + 1));
    if (wide <= 0 || high <= 0) {
      return 0;
    }
    double shared = wide * high;
    return shared / (area(boxes, one) + area(boxes, other) - shared);
  }

  private static double area(Tensor boxes, int box) {
    return (at(boxes, box + 2) - at(boxes, box)) * (at(boxes, box + 3) - at(boxes, box + 1));
  }

  // ---- The best, by a heap in the caller's array whose root is the least of them ----------------

  private static int best(Tensor scores, long from, int count, double least, int[] heap) {
    Checks.notNull(heap, "best");
    int size = 0;
    for (int i = 0; i < count; i++) {
      if (at(scores, from + i) < least) {
        continue;
      }
      if (size < heap.length) {
        heap[size] = i;
        rise(scores, from, heap, size++);
      } else if (size > 0 && isBetter(scores, from, i, heap[0])) {
        heap[0] = i;
        sink(scores, from, heap, size);
      }
    }
    for (int end = size - 1; end > 0; end--) {
      int last = heap[0];
      heap[0] = heap[end];
      heap[end] = last;
      sink(scores, from, heap, end);
    }
    return size;
  }

  private static void rise(Tensor scores, long from, int[] heap, int last) {
    int at = last;
    while (at > 0 && isBetter(scores, from, heap[(at - 1) / 2], heap[at])) {
      int above = (at - 1) / 2;
      int moved = heap[at];
      heap[at] = heap[above];
      heap[above] = moved;
      at = above;
    }
  }

  private static void sink(Tensor scores, long from, int[] heap, int size) {
    int at = 0;
    while (true) {
      int least = at;
      for (int below = 2 * at + 1; below <= 2 * at + 2 && below < size; below++) {
        least = isBetter(scores, from, heap[least], heap[below]) ? below : least;
      }
      if (least == at) {
        return;
      }
      int moved = heap[at];
      heap[at] = heap[least];
      heap[least] = moved;
      at = least;
    }
  }

  // ---- Scores, from the first of a row on -------------------------------------------------------

  private static int count(Tensor tensor) {
    return Math.toIntExact(Checks.notNull(tensor, "tensor").elementCount());
  }

  private static int rowSize(Tensor tensor) {
    int rank = Checks.notNull(tensor, "tensor").rank();
    return rank == 0 ? 1 : Math.toIntExact(tensor.dim(rank - 1));
  }

  private static long first(Tensor tensor, long row) {
    int size = rowSize(tensor);
    return Objects.checkIndex(row, size == 0 ? 0 : tensor.elementCount() / size) * size;
  }

  private static double at(Tensor scores, long index) {
    double value = scores.doubleAt(index);
    return value != value ? Double.NEGATIVE_INFINITY : value;
  }

  /** True if a score is greater than another, or comes first of two that are equal. */
  private static boolean isBetter(Tensor scores, long from, int index, int than) {
    double one = at(scores, from + index);
    double other = at(scores, from + than);
    return one > other || one == other && index < than;
  }
}
