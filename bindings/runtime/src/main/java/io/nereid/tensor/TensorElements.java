package io.nereid.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Reads the elements of a tensor: all of them into an array, or one by its position. Any thread may
 * read as long as the owner of the memory is open.
 */
abstract class TensorElements {

  final DataType dataType;
  final long address; // address in the owner's memory; 0: there is only the segment
  final long byteSize;

  TensorElements(DataType dataType, long address, long byteSize) {
    this.dataType = Checks.notNull(dataType, "dataType");
    this.address = address;
    this.byteSize = byteSize;
  }

  /**
   * The memory from which elements are read, from {@link #address} on; shared, as a segment for
   * each tensor would cost.
   */
  abstract MemorySegment base();

  abstract MemorySegment segment();

  abstract long elementCount();

  /** Returns the position of element {@code index} in {@link #base}. */
  private long offset(long index, int elementSize) {
    return address + Objects.checkIndex(index, byteSize / elementSize) * elementSize;
  }

  private int count(int elementSize) {
    return Math.toIntExact(byteSize / elementSize);
  }

  // ---- Elements as arrays ----------------------------------------------------------------------

  /** A copy of the elements of an INT32 or UINT32 tensor. */
  public int[] toIntArray() {
    require(dataType == DataType.INT32 || dataType == DataType.UINT32, "toIntArray");
    int[] values = new int[count(Integer.BYTES)];
    MemorySegment.copy(base(), JAVA_INT_UNALIGNED, address, values, 0, values.length);
    return values;
  }

  /** A copy of the elements of an INT64 or UINT64 tensor. */
  public long[] toLongArray() {
    require(dataType == DataType.INT64 || dataType == DataType.UINT64, "toLongArray");
    long[] values = new long[count(Long.BYTES)];
    MemorySegment.copy(base(), JAVA_LONG_UNALIGNED, address, values, 0, values.length);
    return values;
  }

  /** A copy of the elements of a tensor with 16-bit elements; of FP16 and BF16 the bit patterns. */
  public short[] toShortArray() {
    require(dataType.byteSize() == Short.BYTES, "toShortArray");
    short[] values = new short[count(Short.BYTES)];
    MemorySegment.copy(base(), JAVA_SHORT_UNALIGNED, address, values, 0, values.length);
    return values;
  }

  /** A copy of the memory of a tensor of any type. */
  public byte[] toByteArray() {
    byte[] values = new byte[count(1)];
    MemorySegment.copy(base(), JAVA_BYTE, address, values, 0, values.length);
    return values;
  }

  /** The elements of an FP32, FP16 or BF16 tensor. */
  public float[] toFloatArray() {
    if (dataType == DataType.FP32) {
      float[] values = new float[count(Float.BYTES)];
      MemorySegment.copy(base(), JAVA_FLOAT_UNALIGNED, address, values, 0, values.length);
      return values;
    }
    require(dataType == DataType.FP16 || dataType == DataType.BF16, "toFloatArray");
    short[] halves = toShortArray();
    float[] values = new float[halves.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = halfToFloat(halves[i]);
    }
    return values;
  }

  /** A copy of the elements of an FP64 tensor. */
  public double[] toDoubleArray() {
    require(dataType == DataType.FP64, "toDoubleArray");
    double[] values = new double[count(Double.BYTES)];
    MemorySegment.copy(base(), JAVA_DOUBLE_UNALIGNED, address, values, 0, values.length);
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
    return ByteStrings.decode(segment(), Math.toIntExact(elementCount()));
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

  // ---- Single elements, by their position in row-major order -----------------------------------

  /** An element of a tensor of integers or booleans; UINT64 as its bit pattern. */
  public long longAt(long index) {
    return switch (dataType) {
      case BOOL, UINT8 -> Byte.toUnsignedLong(byteAt(index));
      case INT8 -> byteAt(index);
      case UINT16 -> Short.toUnsignedLong(shortAt(index));
      case INT16 -> shortAt(index);
      case UINT32 -> Integer.toUnsignedLong(rawIntAt(index));
      case INT32 -> rawIntAt(index);
      case INT64, UINT64 -> base().get(JAVA_LONG_UNALIGNED, offset(index, Long.BYTES));
      case FP16, BF16, FP32, FP64, BYTES -> throw wrongType("longAt");
    };
  }

  /**
   * Does the same as {@link #longAt}, but throws {@link ArithmeticException} when the value does
   * not fit an int.
   */
  public int intAt(long index) {
    return Math.toIntExact(longAt(index));
  }

  /** An element of a BOOL tensor. */
  public boolean booleanAt(long index) {
    require(dataType == DataType.BOOL, "booleanAt");
    return longAt(index) != 0;
  }

  private float halfToFloat(short bits) {
    return dataType == DataType.FP16 ? Float.float16ToFloat(bits) : HalfPrecision.bf16ToFloat(bits);
  }

  /** An element of a tensor of floating-point numbers. */
  public double doubleAt(long index) {
    return switch (dataType) {
      case FP16, BF16 -> halfToFloat(shortAt(index));
      case FP32 -> base().get(JAVA_FLOAT_UNALIGNED, offset(index, Float.BYTES));
      case FP64 -> base().get(JAVA_DOUBLE_UNALIGNED, offset(index, Double.BYTES));
      default -> throw wrongType("doubleAt");
    };
  }

  /** An element of an FP32, FP16 or BF16 tensor. */
  public float floatAt(long index) {
    require(dataType != DataType.FP64, "floatAt");
    return (float) doubleAt(index);
  }

  /** An element of a BYTES tensor, read as UTF-8; the time grows with the position. */
  public String stringAt(long index) {
    require(dataType == DataType.BYTES, "stringAt");
    Objects.checkIndex(index, elementCount());
    return new String(ByteStrings.element(segment(), index), StandardCharsets.UTF_8);
  }

  private byte byteAt(long index) {
    return base().get(JAVA_BYTE, offset(index, 1));
  }

  private short shortAt(long index) {
    return base().get(JAVA_SHORT_UNALIGNED, offset(index, Short.BYTES));
  }

  private int rawIntAt(long index) {
    return base().get(JAVA_INT_UNALIGNED, offset(index, Integer.BYTES));
  }

  private void require(boolean fits, String method) {
    if (!fits) {
      throw wrongType(method);
    }
  }

  private IllegalStateException wrongType(String method) {
    return new IllegalStateException(method + " does not read a tensor of " + dataType);
  }
}
