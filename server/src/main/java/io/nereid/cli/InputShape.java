package io.nereid.cli;

import io.nereid.model.TensorSpec;
import java.util.Arrays;

/** Shapes of inputs: as they are written, and as they follow from the number of values. */
final class InputShape {

  private InputShape() {}

  /** A shape as {@code 1x16}. */
  static long[] parse(String name, String text) {
    // 18 digits always fit a long.
    if (!text.matches("[0-9]{1,18}(x[0-9]{1,18})*")) {
      throw new IllegalArgumentException(
          "expected --shape "
              + name
              + " as sizes with x between them, such as 1x16, got '"
              + text
              + "'");
    }
    return Arrays.stream(text.split("x")).mapToLong(Long::parseLong).toArray();
  }

  /** How many elements it has. */
  static long elementCount(long... shape) {
    long count = 1;
    for (long dim : shape) {
      try {
        count = Math.multiplyExact(count, dim);
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "shape " + Arrays.toString(shape) + " has too many elements", e);
      }
    }
    return count;
  }

  /** The given shape, with the batch dimension in front when only that is missing. */
  static long[] complete(TensorSpec spec, long[] shape, boolean batched) {
    return batched && shape.length == spec.dims().size() ? withBatch(1, shape) : shape;
  }

  /** The configured shape, its one open dimension (or the batch's) sized by the count. */
  static long[] of(TensorSpec spec, long count, boolean batched) {
    long[] dims = spec.dims().stream().mapToLong(Long::longValue).toArray();
    int open = -1;
    for (int i = 0; i < dims.length; i++) {
      if (dims[i] >= 0) {
        continue;
      }
      if (open >= 0) {
        throw new IllegalArgumentException(
            "input '"
                + spec.name()
                + "' has several dimensions of any size, "
                + spec.dims()
                + ": expected --shape "
                + spec.name()
                + "=... with it");
      }
      open = i;
      dims[i] = 1;
    }
    long known = elementCount(dims);
    long rest = known == 0 ? 0 : count / known;
    if (known * rest != count || (open < 0 && rest != 1 && (!batched || rest == 0))) {
      throw new IllegalArgumentException(
          "expected "
              + (open >= 0 || batched ? "a multiple of " : "")
              + known
              + " values for input '"
              + spec.name()
              + "' "
              + spec.dataType()
              + spec.dims()
              + ", got "
              + count);
    }
    if (open >= 0) {
      dims[open] = rest;
      return batched ? withBatch(1, dims) : dims;
    }
    return batched ? withBatch(rest, dims) : dims;
  }

  private static long[] withBatch(long size, long[] dims) {
    long[] shape = new long[dims.length + 1];
    shape[0] = size;
    System.arraycopy(dims, 0, shape, 1, dims.length);
    return shape;
  }
}
