package io.nereid.types;

import java.util.Arrays;
import java.util.Objects;

/** Arithmetic on shapes that cannot overflow unnoticed. */
public final class Shapes {

  private Shapes() {}

  /** Elements of a shape; throws when a dimension is negative or the product overflows. */
  public static long elementCount(long... shape) {
    Objects.requireNonNull(shape, "shape must not be null");
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
            "shape %s causes total element count to exceed maximum size of %s"
                .formatted(Arrays.toString(shape), Long.MAX_VALUE),
            e);
      }
    }
    return count;
  }

  /** Throws unless the shape has {@code count} elements. */
  public static void check(long count, long... shape) {
    if (count != elementCount(shape)) {
      throw new IllegalArgumentException(
          "shape %s has %s elements, %s were given"
              .formatted(Arrays.toString(shape), elementCount(shape), count));
    }
  }

  /**
   * Throws unless {@code byteSize} is what the shape takes; any size fits {@link DataType#BYTES}.
   */
  public static void checkByteSize(DataType type, long byteSize, long... shape) {
    long count = elementCount(shape);
    if (type.isFixedSize() && byteSize != Math.multiplyExact(count, (long) type.byteSize())) {
      throw new IllegalArgumentException(
          "a tensor "
              + type
              + Arrays.toString(shape)
              + " has "
              + count * type.byteSize()
              + " bytes, "
              + byteSize
              + " were given");
    }
  }
}
