package io.nereid.tensor;

import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;

/**
 * Turns arrays of arrays into tensors, and tensors into arrays of arrays. Elements are copied once,
 * but an array of one dimension becomes a view. The class has no state.
 */
final class NestedArrays {

  private NestedArrays() {}

  /** The type of a tensor over a buffer of Java. */
  static DataType typeOf(Buffer buffer) {
    ByteOrder order = ByteOrder.LITTLE_ENDIAN;
    DataType type =
        switch (buffer) {
          case FloatBuffer floats -> {
            order = floats.order();
            yield DataType.FP32;
          }
          case DoubleBuffer doubles -> {
            order = doubles.order();
            yield DataType.FP64;
          }
          case IntBuffer ints -> {
            order = ints.order();
            yield DataType.INT32;
          }
          case LongBuffer longs -> {
            order = longs.order();
            yield DataType.INT64;
          }
          case ShortBuffer shorts -> {
            order = shorts.order();
            yield DataType.INT16;
          }
          default ->
              throw new IllegalArgumentException(
                  "a buffer of floats, doubles, ints, longs or shorts was expected, not a "
                      + buffer.getClass().getSimpleName()
                      + "; Tensor.of(type, MemorySegment.ofBuffer(buffer), shape) takes any");
        };
    if (order != ByteOrder.LITTLE_ENDIAN) {
      throw new IllegalArgumentException(
          "elements of tensors are little-endian, and the buffer's are not: set the order of the"
              + " ByteBuffer before asFloatBuffer() and its like");
    }
    return type;
  }

  /** A tensor with the elements of an array of any depth. */
  static Tensor tensor(Object array) {
    Class<?> element = array.getClass();
    int rank = 0;
    for (; element.isArray(); element = element.getComponentType()) {
      rank++;
    }
    if (rank == 0) {
      throw new IllegalArgumentException(
          "an array was expected, not a " + array.getClass().getSimpleName());
    }
    if (rank == 1) {
      return ofFlat(array, new long[] {Array.getLength(array)});
    }
    long[] shape = new long[rank];
    Object first = array;
    for (int i = 0; i < rank && first != null; i++) {
      shape[i] = Array.getLength(first);
      first = shape[i] == 0 || i == rank - 1 ? null : ((Object[]) first)[0];
    }
    Object flat =
        Array.newInstance(
            element, Math.toIntExact(Arrays.stream(shape).reduce(1, Math::multiplyExact)));
    flatten(array, shape, 0, flat, 0);
    return ofFlat(flat, shape);
  }

  /** Copies an array behind the elements copied so far; returns their new number. */
  private static int flatten(Object array, long[] shape, int depth, Object flat, int at) {
    if (array == null || Array.getLength(array) != shape[depth]) {
      throw new IllegalArgumentException(
          "all arrays of depth "
              + (depth + 1)
              + " must have "
              + shape[depth]
              + " elements as the first has, and one "
              + (array == null ? "is null" : "has " + Array.getLength(array)));
    }
    int length = (int) shape[depth];
    if (depth == shape.length - 1) {
      System.arraycopy(array, 0, flat, at, length);
      return at + length;
    }
    int end = at;
    for (int i = 0; i < length; i++) {
      end = flatten(((Object[]) array)[i], shape, depth + 1, flat, end);
    }
    return end;
  }

  private static Tensor ofFlat(Object flat, long[] shape) {
    return switch (flat) {
      case float[] floats -> Tensor.ofFloats(floats, shape);
      case double[] doubles -> Tensor.ofDoubles(doubles, shape);
      case int[] ints -> Tensor.ofInts(ints, shape);
      case long[] longs -> Tensor.ofLongs(longs, shape);
      case short[] shorts -> Tensor.of(DataType.INT16, MemorySegment.ofArray(shorts), shape);
      case byte[] bytes -> Tensor.of(DataType.INT8, MemorySegment.ofArray(bytes), shape);
      case boolean[] booleans -> Tensor.ofBooleans(booleans, shape);
      case String[] strings -> Tensor.ofStrings(strings, shape);
      default ->
          throw new IllegalArgumentException(
              "elements of a tensor are numbers, booleans or strings, not "
                  + flat.getClass().getComponentType().getSimpleName());
    };
  }

  /** The elements of a tensor as an array of the type, which has the tensor's dimensions. */
  static Object read(Tensor tensor, Class<?> type) {
    Class<?> element = type;
    int rank = 0;
    for (; element.isArray(); element = element.getComponentType()) {
      rank++;
    }
    long[] shape = tensor.rawShape();
    if (rank == 0 || rank != shape.length) {
      throw new IllegalArgumentException(
          "a tensor of shape %s is no %s: expected an array with %s dimensions"
              .formatted(Arrays.toString(shape), type.getSimpleName(), shape.length));
    }
    Object flat = flat(tensor, element);
    return rank == 1 ? flat : nest(flat, element, shape, 0, new int[1]);
  }

  private static Object flat(Tensor tensor, Class<?> element) {
    return switch (element.getName()) {
      case "float" -> tensor.toFloatArray();
      case "double" -> tensor.toDoubleArray();
      case "int" -> tensor.toIntArray();
      case "long" -> tensor.toLongArray();
      case "short" -> tensor.toShortArray();
      case "byte" -> tensor.toByteArray();
      case "boolean" -> tensor.toBooleanArray();
      case "java.lang.String" -> tensor.toStringArray();
      default ->
          throw new IllegalArgumentException(
              "elements of a tensor are numbers, booleans or strings, not "
                  + element.getSimpleName());
    };
  }

  private static Object nest(Object flat, Class<?> element, long[] shape, int depth, int[] at) {
    int length = Math.toIntExact(shape[depth]);
    if (depth == shape.length - 1) {
      Object row = Array.newInstance(element, length);
      System.arraycopy(flat, at[0], row, 0, length);
      at[0] += length;
      return row;
    }
    Class<?> entry = element;
    for (int i = depth + 1; i < shape.length; i++) {
      entry = entry.arrayType();
    }
    Object[] rows = (Object[]) Array.newInstance(entry, length);
    for (int i = 0; i < length; i++) {
      rows[i] = nest(flat, element, shape, depth + 1, at);
    }
    return rows;
  }
}
