package io.nereid.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.internal.Checks;
import io.nereid.types.ByteStrings;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import io.nereid.types.Shapes;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A datatype, a shape, and memory. A tensor made by one of the factories here is a view of the
 * caller's memory. One that comes from a request, a response or a batch lies in the runtime's pool
 * and can be used until that owner is closed; afterwards its methods throw {@link
 * IllegalStateException}, and segments taken from it before must not be used any more.
 *
 * <p>Elements are in row-major order and little-endian. Views of arrays follow later changes of the
 * array until the tensor is given to a request. Arrays that are given as shapes are kept: do not
 * change them afterwards.
 */
public final class Tensor {

  private final TensorOwner owner; // null: the caller's memory
  private final DataType dataType;
  private final long[] shape;
  private final long address; // in the owner's memory; 0: all there is to it is the segment
  private final long byteSize;
  private MemorySegment segment; // with an address: made on first use

  private Tensor(DataType dataType, MemorySegment segment, long[] shape) {
    this.owner = null;
    this.dataType = Checks.notNull(dataType, "dataType");
    this.shape = shape;
    this.address = 0;
    this.byteSize = segment.byteSize();
    this.segment = segment;
  }

  /** A tensor in an owner's memory; takes {@code shape} as its own. */
  Tensor(TensorOwner owner, DataType dataType, long[] shape, long address, long byteSize) {
    this.owner = owner;
    this.dataType = dataType;
    this.shape = shape;
    this.address = address;
    this.byteSize = byteSize;
  }

  /** A tensor over memory that its owner only lends; takes {@code shape} as its own. */
  Tensor(TensorOwner owner, DataType dataType, long[] shape, MemorySegment segment) {
    this.owner = owner;
    this.dataType = dataType;
    this.shape = shape;
    this.address = 0;
    this.byteSize = segment.byteSize();
    this.segment = segment;
  }

  // ---- Factories -------------------------------------------------------------------------------

  /**
   * A tensor of any type over {@code segment}, which is used as it is: whether its size fits is
   * checked when a request with it is sent.
   */
  public static Tensor of(DataType dataType, MemorySegment segment, long... shape) {
    return new Tensor(dataType, Checks.notNull(segment, "segment"), Checks.notNull(shape, "shape"));
  }

  /** An INT32 tensor over the array. */
  public static Tensor ofInts(int[] values, long... shape) {
    Shapes.check(Checks.notNull(values, "values").length, shape);
    return new Tensor(DataType.INT32, MemorySegment.ofArray(values), shape);
  }

  /** An INT64 tensor over the array. */
  public static Tensor ofLongs(long[] values, long... shape) {
    Shapes.check(Checks.notNull(values, "values").length, shape);
    return new Tensor(DataType.INT64, MemorySegment.ofArray(values), shape);
  }

  /** An FP32 tensor over the array. */
  public static Tensor ofFloats(float[] values, long... shape) {
    Shapes.check(Checks.notNull(values, "values").length, shape);
    return new Tensor(DataType.FP32, MemorySegment.ofArray(values), shape);
  }

  /** An FP64 tensor over the array. */
  public static Tensor ofDoubles(double[] values, long... shape) {
    Shapes.check(Checks.notNull(values, "values").length, shape);
    return new Tensor(DataType.FP64, MemorySegment.ofArray(values), shape);
  }

  /** An FP16 or BF16 tensor with the nearest values. */
  public static Tensor ofHalfFloats(DataType dataType, float[] values, long... shape) {
    if (Checks.notNull(dataType, "dataType") != DataType.FP16 && dataType != DataType.BF16) {
      throw new IllegalArgumentException(dataType + " is neither FP16 nor BF16");
    }
    Shapes.check(Checks.notNull(values, "values").length, shape);
    short[] halves = new short[values.length];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = HalfPrecision.ofFloat(dataType, values[i]);
    }
    return new Tensor(dataType, MemorySegment.ofArray(halves), shape);
  }

  /** A BOOL tensor with the values. */
  public static Tensor ofBooleans(boolean[] values, long... shape) {
    Shapes.check(Checks.notNull(values, "values").length, shape);
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (values[i] ? 1 : 0);
    }
    return new Tensor(DataType.BOOL, MemorySegment.ofArray(bytes), shape);
  }

  /** A BYTES tensor with the strings in UTF-8. */
  public static Tensor ofStrings(String[] values, long... shape) {
    byte[][] bytes = new byte[Checks.notNull(values, "values").length][];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = values[i].getBytes(StandardCharsets.UTF_8);
    }
    return ofByteStrings(bytes, shape);
  }

  /** A BYTES tensor with the byte strings. */
  public static Tensor ofByteStrings(byte[][] values, long... shape) {
    Shapes.check(Checks.notNull(values, "values").length, shape);
    return new Tensor(DataType.BYTES, ByteStrings.encode(values), shape);
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

  /** How many dimensions there are. */
  public int rank() {
    return shape.length;
  }

  /** The size of one dimension. */
  public long dim(int index) {
    return shape[index];
  }

  /** How many elements the shape has. */
  public long elementCount() {
    return Shapes.elementCount(shape);
  }

  /** Size of the memory. */
  public long byteSize() {
    return byteSize;
  }

  /** Whether it lies on a GPU: then it has no {@link #segment}, and elements cannot be read. */
  public boolean isOnDevice() {
    return owner == TensorOwner.DEVICE;
  }

  /**
   * The memory. Read-only for the outputs of a response and the inputs of a batch, writable for
   * what was allocated to be filled in.
   */
  public MemorySegment segment() {
    checkOpen();
    MemorySegment known = segment;
    if (known == null) {
      known = owner.memory().asSlice(address, byteSize);
      segment = known;
    }
    return known;
  }

  private void checkOpen() {
    if (owner != null) {
      owner.checkOpen();
    }
  }

  /** What elements are read from, at {@link #address} on: a segment for each tensor would cost. */
  private MemorySegment base() {
    checkOpen();
    return address == 0 ? segment : owner.memory();
  }

  /** Where element {@code index} is in {@link #base}. */
  private long offset(long index, int elementSize) {
    return address + Objects.checkIndex(index, byteSize / elementSize) * elementSize;
  }

  private int count(int elementSize) {
    return Math.toIntExact(byteSize / elementSize);
  }

  /** Overwrites this tensor's memory with {@code source}'s, which must have the same size. */
  public Tensor copyFrom(Tensor source) {
    Checks.notNull(source, "source");
    if (Checks.notNull(source, "source").byteSize != byteSize) {
      throw new IllegalArgumentException(
          "the tensor has " + byteSize + " bytes, its source " + source.byteSize);
    }
    segment().copyFrom(source.segment());
    return this;
  }

  /** The shape itself, for reading. */
  long[] rawShape() {
    return shape;
  }

  TensorOwner owner() {
    return owner;
  }

  /** Where it is in the owner's memory; 0 when it is not there. */
  long address() {
    return address;
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
      values[i] = HalfPrecision.toFloat(dataType, halves[i]);
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

  /** As {@link #longAt}; throws {@link ArithmeticException} when it does not fit an int. */
  public int intAt(long index) {
    return Math.toIntExact(longAt(index));
  }

  /** An element of a BOOL tensor. */
  public boolean booleanAt(long index) {
    require(dataType == DataType.BOOL, "booleanAt");
    return longAt(index) != 0;
  }

  /** An element of a tensor of floating-point numbers. */
  public double doubleAt(long index) {
    return switch (dataType) {
      case FP16, BF16 -> HalfPrecision.toFloat(dataType, shortAt(index));
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

  /** An element of a BYTES tensor, read as UTF-8; takes longer the further back it is. */
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

  /** Type and shape, without the elements. */
  @Override
  public String toString() {
    return dataType + Arrays.toString(shape);
  }
}
