package io.nereid;

import java.util.Arrays;

/** Arithmetic on shapes that cannot overflow unnoticed. */
final class Shapes {

  private Shapes() {}

  /** Elements of a shape; throws when a dimension is negative or the product overflows. */
  static long elementCount(long[] shape) {
    Checks.notNull(shape, "shape");
    long count = 1;
    for (long dim : shape) {
      if (dim < 0) {
        throw new IllegalArgumentException(
            "shape " + Arrays.toString(shape) + " has a negative dimension");
      }
      try {
        count = Math.multiplyExact(count, dim);
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "shape "
                + Arrays.toString(shape)
                + " causes total element count to exceed maximum size of "
                + Long.MAX_VALUE,
            e);
      }
    }
    return count;
  }

  /** Throws unless the shape has {@code count} elements. */
  static void check(long count, long[] shape) {
    if (count != elementCount(shape)) {
      throw new IllegalArgumentException(
          "shape "
              + Arrays.toString(shape)
              + " has "
              + elementCount(shape)
              + " elements, "
              + count
              + " were given");
    }
  }
}
