package io.nereid.flink;

import java.util.Arrays;
import java.util.List;

/** Fits the dimensions of columns to those of tensors, and back. */
final class Shape {

  private Shape() {}

  /**
   * Returns the dimensions for sending a column's value: its own, with leading ones up to the
   * tensor's rank; or the tensor's, if the column is a flat array of all elements.
   */
  static long[] ofInput(TensorInfo tensor, long[] value) {
    List<Long> wanted = tensor.shape();
    int missing = wanted.size() - value.length;
    if (missing >= 0) {
      long[] padded = new long[wanted.size()];
      Arrays.fill(padded, 0, missing, 1);
      System.arraycopy(value, 0, padded, missing, value.length);
      if (fits(padded, wanted)) {
        return padded;
      }
    }
    long[] one = wanted.stream().mapToLong(dim -> dim < 0 ? 1 : dim).toArray();
    if (value.length == 1 && product(one) == value[0]) {
      return one;
    }
    throw new IllegalArgumentException(
        "input '%s' has the shape %s, and the row has %s"
            .formatted(tensor.name(), wanted, Arrays.toString(value)));
  }

  private static boolean fits(long[] shape, List<Long> wanted) {
    for (int i = 0; i < shape.length; i++) {
      if (wanted.get(i) >= 0 && wanted.get(i) != shape[i]) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the dimensions of the arrays that an output becomes: the output's without leading ones,
   * down to the column's rank; or one dimension of all elements, if the column is an array of
   * values.
   */
  static long[] ofOutput(String output, int rank, long[] tensor) {
    int more = tensor.length - rank;
    if (more >= 0 && product(Arrays.copyOf(tensor, more)) == 1) {
      return Arrays.copyOfRange(tensor, more, tensor.length);
    }
    if (rank == 1) {
      return new long[] {product(tensor)};
    }
    if (rank == 0 && product(tensor) == 1) {
      return new long[0];
    }
    throw new IllegalArgumentException(
        "output '%s' came with the shape %s: expected %s"
            .formatted(
                output,
                Arrays.toString(tensor),
                rank == 0 ? "one value for its column" : rank + " dimensions for its column"));
  }

  static long product(long[] dims) {
    return Arrays.stream(dims).reduce(1, Math::multiplyExact);
  }
}
