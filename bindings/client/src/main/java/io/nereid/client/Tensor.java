package io.nereid.client;

import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import io.nereid.types.Shapes;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A datatype, a shape, and memory. A tensor made by one of the factories is a view of the caller's
 * memory, which must not change until the call that sends it has ended. A tensor of an {@link
 * InferResponse} can be used until the response is closed; afterwards its methods throw {@link
 * IllegalStateException}, and buffers taken from it before must not be used any more.
 *
 * <p>Elements are in row-major order and little-endian, and may lie at any address. A tensor has at
 * most 2<sup>31</sup> - 1 bytes, as a buffer does. Arrays that are given as shapes are kept: do not
 * change them.
 */
public final class Tensor {

  private final InferResponse owner; // null: the caller's memory
  private final DataType dataType;
  private final long[] shape;
  private final Buffer memory; // null: in shared memory that this process does not map
  private final SharedMemory.Slice slice; // null: the bytes themselves are sent

  private Tensor(
      InferResponse owner,
      DataType dataType,
      Buffer memory,
      SharedMemory.Slice slice,
      long[] shape) {
    this.owner = owner;
    this.dataType = Objects.requireNonNull(dataType);
    this.memory = memory;
    this.slice = slice;
    this.shape = Objects.requireNonNull(shape);
  }

  /** A tensor of a response; {@code memory} is null if this process does not map it. */
  static Tensor ofResponse(
      InferResponse owner,
      DataType type,
      ByteBuffer memory,
      SharedMemory.Slice slice,
      long[] shape) {
    return new Tensor(owner, type, memory, slice, shape);
  }

  // ---- Factories -------------------------------------------------------------------------------

  /**
   * A tensor of any type over what remains of {@code buffer}, which is little-endian. Direct memory
   * that other threads may use is sent without a copy; other memory is copied once.
   */
  public static Tensor of(DataType dataType, ByteBuffer buffer, long... shape) {
    return over(dataType, Buffers.view(buffer), shape);
  }

  private static Tensor over(DataType dataType, Buffer memory, long[] shape) {
    Shapes.checkByteSize(dataType, Buffers.byteSize(memory), shape);
    return new Tensor(null, dataType, memory, null, shape);
  }

  /** A tensor in shared memory that the server knows; only its place is sent. */
  public static Tensor ofSharedMemory(DataType dataType, SharedMemory.Slice slice, long... shape) {
    Shapes.checkByteSize(dataType, slice.byteSize(), shape);
    return new Tensor(null, dataType, slice.mapped(), slice, shape);
  }

  /** An INT32 tensor over the array. */
  public static Tensor ofInts(int[] values, long... shape) {
    return over(DataType.INT32, IntBuffer.wrap(values), shape);
  }

  /** An INT64 tensor over the array. */
  public static Tensor ofLongs(long[] values, long... shape) {
    return over(DataType.INT64, LongBuffer.wrap(values), shape);
  }

  /** An FP32 tensor over the array. */
  public static Tensor ofFloats(float[] values, long... shape) {
    return over(DataType.FP32, FloatBuffer.wrap(values), shape);
  }

  /** An FP64 tensor over the array. */
  public static Tensor ofDoubles(double[] values, long... shape) {
    return over(DataType.FP64, DoubleBuffer.wrap(values), shape);
  }

  /** An FP16 or BF16 tensor with the nearest values. */
  public static Tensor ofHalfFloats(DataType dataType, float[] values, long... shape) {
    if (dataType != DataType.FP16 && dataType != DataType.BF16) {
      throw new IllegalArgumentException(dataType + " is neither FP16 nor BF16");
    }
    short[] halves = new short[values.length];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = HalfPrecision.ofFloat(dataType, values[i]);
    }
    return over(dataType, ShortBuffer.wrap(halves), shape);
  }

  /** A BOOL tensor with the values. */
  public static Tensor ofBooleans(boolean[] values, long... shape) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (values[i] ? 1 : 0);
    }
    return of(DataType.BOOL, ByteBuffer.wrap(bytes), shape);
  }

  /** A BYTES tensor with the strings in UTF-8. */
  public static Tensor ofStrings(String[] values, long... shape) {
    byte[][] bytes = new byte[values.length][];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = values[i].getBytes(StandardCharsets.UTF_8);
    }
    return ofByteStrings(bytes, shape);
  }

  /** A BYTES tensor with the byte strings. */
  public static Tensor ofByteStrings(byte[][] values, long... shape) {
    Shapes.check(values.length, shape);
    return of(DataType.BYTES, encode(values), shape);
  }

  /** Encodes strings as in a tensor: each behind its length in four bytes. */
  static ByteBuffer encode(byte[][] values) {
    long byteSize = (long) Integer.BYTES * values.length;
    for (byte[] value : values) {
      byteSize += value.length;
    }
    ByteBuffer encoded = ByteBuffer.allocate(Math.toIntExact(byteSize));
    encoded.order(ByteOrder.LITTLE_ENDIAN);
    for (byte[] value : values) {
      encoded.putInt(value.length).put(value);
    }
    return encoded.flip();
  }

  // ---- What it is ------------------------------------------------------------------------------

  /** The type of the elements. */
  public DataType dataType() {
    return dataType;
  }

  /** A copy of the shape. */
  public long[] shape() {
    return shape.clone();
  }

  /** Returns the number of elements that the shape has. */
  public long elementCount() {
    return Shapes.elementCount(shape);
  }

  /** Size of the memory. */
  public long byteSize() {
    return memory == null ? slice.byteSize() : Buffers.byteSize(memory);
  }

  /**
   * A little-endian view of the memory; read-only when it belongs to a response, a copy if the
   * tensor was made from an array of numbers.
   */
  public ByteBuffer byteBuffer() {
    return Buffers.bytes(memory());
  }

  /** The memory itself, whose position must not be changed. */
  Buffer memory() {
    if (owner != null) {
      owner.checkOpen();
    }
    if (memory == null) {
      throw new IllegalStateException(
          "the tensor lies in shared memory region '"
              + slice.region()
              + "', which this slice of it does not map");
    }
    return memory;
  }

  /**
   * Returns the part of shared memory that is sent in place of the bytes; null: the bytes are sent.
   */
  SharedMemory.Slice slice() {
    return slice;
  }

  /** The shape itself, which must not be changed. */
  long[] rawShape() {
    return shape;
  }

  // ---- Elements as arrays ----------------------------------------------------------------------

  /** A copy of the elements of an INT32 or UINT32 tensor. */
  public int[] toIntArray() {
    require(dataType == DataType.INT32 || dataType == DataType.UINT32, "toIntArray");
    IntBuffer elements = byteBuffer().asIntBuffer();
    int[] values = new int[elements.remaining()];
    elements.get(values);
    return values;
  }

  /** A copy of the elements of an INT64 or UINT64 tensor. */
  public long[] toLongArray() {
    require(dataType == DataType.INT64 || dataType == DataType.UINT64, "toLongArray");
    LongBuffer elements = byteBuffer().asLongBuffer();
    long[] values = new long[elements.remaining()];
    elements.get(values);
    return values;
  }

  /** A copy of the elements of a tensor with 16-bit elements; of FP16 and BF16 the bit patterns. */
  public short[] toShortArray() {
    require(dataType.byteSize() == Short.BYTES, "toShortArray");
    ShortBuffer elements = byteBuffer().asShortBuffer();
    short[] values = new short[elements.remaining()];
    elements.get(values);
    return values;
  }

  /** A copy of the memory of a tensor of any type. */
  public byte[] toByteArray() {
    ByteBuffer bytes = byteBuffer();
    byte[] values = new byte[bytes.remaining()];
    bytes.get(values);
    return values;
  }

  /** The elements of an FP32, FP16 or BF16 tensor. */
  public float[] toFloatArray() {
    if (dataType == DataType.FP32) {
      FloatBuffer elements = byteBuffer().asFloatBuffer();
      float[] values = new float[elements.remaining()];
      elements.get(values);
      return values;
    }
    require(dataType == DataType.FP16 || dataType == DataType.BF16, "toFloatArray");
    short[] halves = toShortArray();
    float[] values = new float[halves.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = HalfPrecision.toFloat(dataType, halves[i]);
    }
    return values;
  }

  /** A copy of the elements of an FP64 tensor. */
  public double[] toDoubleArray() {
    require(dataType == DataType.FP64, "toDoubleArray");
    DoubleBuffer elements = byteBuffer().asDoubleBuffer();
    double[] values = new double[elements.remaining()];
    elements.get(values);
    return values;
  }

  /** The elements of a BOOL tensor. */
  public boolean[] toBooleanArray() {
    require(dataType == DataType.BOOL, "toBooleanArray");
    byte[] bytes = toByteArray();
    boolean[] values = new boolean[bytes.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = bytes[i] != 0;
    }
    return values;
  }

  /** The elements of a BYTES tensor. */
  public byte[][] toByteStrings() {
    require(dataType == DataType.BYTES, "toByteStrings");
    ByteBuffer encoded = byteBuffer();
    long count = elementCount();
    int size = byteStringsSize(encoded, count);
    if (size != encoded.limit()) {
      throw InferenceException.malformed(
          "%s bytes follow the last of %s elements of a BYTES tensor"
              .formatted(encoded.limit() - size, count));
    }
    byte[][] values = new byte[(int) count][];
    for (int i = 0; i < values.length; i++) {
      values[i] = new byte[encoded.getInt()];
      encoded.get(values[i]);
    }
    return values;
  }

  /** The size of the first {@code count} elements of a BYTES tensor. */
  static int byteStringsSize(ByteBuffer encoded, long count) {
    int at = 0;
    for (long i = 0; i < count; i++) {
      long left = (long) encoded.limit() - at - Integer.BYTES;
      long length = left < 0 ? 0 : Integer.toUnsignedLong(encoded.getInt(at));
      if (length > left) {
        throw InferenceException.malformed(
            "element %s of a BYTES tensor of %s begins at byte %s and ends beyond its %s bytes"
                .formatted(i, count, at, encoded.limit()));
      }
      at += Integer.BYTES + (int) length;
    }
    return at;
  }

  /** The elements of a BYTES tensor, read as UTF-8. */
  public String[] toStringArray() {
    byte[][] bytes = toByteStrings();
    String[] values = new String[bytes.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = new String(bytes[i], StandardCharsets.UTF_8);
    }
    return values;
  }

  private void require(boolean fits, String method) {
    if (!fits) {
      throw new IllegalStateException(method + " does not read a tensor of " + dataType);
    }
  }

  /** Type and shape, without the elements. */
  @Override
  public String toString() {
    return dataType + Arrays.toString(shape);
  }
}
