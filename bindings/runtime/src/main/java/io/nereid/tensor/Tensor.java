package io.nereid.tensor;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import io.nereid.types.Shapes;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A datatype, a shape, and memory. A tensor made by one of the factories here is a view of the
 * caller's memory. A tensor that comes from a request, a response or a batch lies in the runtime's
 * pool and can be used until that owner is closed; afterwards its methods throw {@link
 * IllegalStateException}, and segments taken from it before must not be used any more.
 *
 * <p>Elements are in row-major order and little-endian. Views of arrays follow later changes of the
 * array until the tensor is given to a request. Arrays that are given as shapes are kept: do not
 * change them afterwards.
 */
public final class Tensor extends TensorElements {

  private final TensorOwner owner; // null: the caller's memory
  private final long[] shape;
  private MemorySegment segment; // made at the first use if there is an address

  private Tensor(DataType dataType, MemorySegment segment, long[] shape) {
    this(null, dataType, shape, segment);
  }

  /** A tensor in an owner's memory; takes {@code shape} as its own. */
  Tensor(TensorOwner owner, DataType dataType, long[] shape, long address, long byteSize) {
    super(dataType, address, byteSize);
    this.owner = owner;
    this.shape = shape;
  }

  /** A tensor over memory that its owner only lends; takes {@code shape} as its own. */
  Tensor(TensorOwner owner, DataType dataType, long[] shape, MemorySegment segment) {
    super(dataType, 0, segment.byteSize());
    this.owner = owner;
    this.shape = shape;
    this.segment = segment;
  }

  // ---- Factories -------------------------------------------------------------------------------

  /**
   * A tensor of any type over {@code segment}, which is not copied; its size is checked when a
   * request with it is sent.
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
      // The JDK's conversion is 40 times as fast as HalfPrecision's, which must also run on Java
      // 17.
      halves[i] =
          dataType == DataType.FP16
              ? Float.floatToFloat16(values[i])
              : HalfPrecision.floatToBf16(values[i]);
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

  /** A BYTES tensor of one dimension with the strings in UTF-8. */
  public static Tensor of(List<String> values) {
    return ofStrings(Checks.notNull(values, "values").toArray(String[]::new), values.size());
  }

  /**
   * A tensor over the rest of a buffer, direct or not, with the type of the buffer: of floats FP32,
   * of doubles FP64, of ints INT32, of longs INT64, of shorts INT16. A {@link ByteBuffer} may hold
   * anything: {@code Tensor.of(type, MemorySegment.ofBuffer(buffer), shape)}.
   */
  public static Tensor of(Buffer values, long... shape) {
    DataType type = NestedArrays.typeOf(Checks.notNull(values, "values"));
    Shapes.check(values.remaining(), shape);
    return new Tensor(type, MemorySegment.ofBuffer(values), shape);
  }

  /**
   * A tensor with the elements and the shape of an array of arrays, such as a {@code float[][]}:
   * FP32 of floats, FP64 of doubles, INT32 of ints, INT64 of longs, INT16 of shorts, INT8 of bytes,
   * BOOL of booleans, BYTES of strings. All arrays of one depth have to be equally long.
   */
  public static Tensor ofArray(Object array) {
    return NestedArrays.tensor(Checks.notNull(array, "array"));
  }

  // ---- Views ------------------------------------------------------------------------------------

  /** Returns the same memory with another shape of as many elements. */
  public Tensor reshape(long... newShape) {
    Shapes.check(elementCount(), Checks.notNull(newShape, "newShape"));
    return view(newShape, 0, byteSize);
  }

  /** The {@code count} entries of the first dimension from {@code first} on, without a copy. */
  public Tensor slice(long first, long count) {
    if (shape.length == 0) {
      throw new IllegalStateException("a tensor without dimensions has no slices");
    }
    Objects.checkFromIndexSize(first, count, shape[0]);
    long[] part = shape.clone();
    part[0] = count;
    return part(part, first, count);
  }

  /** Entry {@code index} of the first dimension, without that dimension and without a copy. */
  public Tensor row(long index) {
    if (shape.length == 0) {
      throw new IllegalStateException("a tensor without dimensions has no rows");
    }
    Objects.checkIndex(index, shape[0]);
    return part(Arrays.copyOfRange(shape, 1, shape.length), index, 1);
  }

  private Tensor part(long[] newShape, long first, long count) {
    long each = shape[0] == 0 ? 0 : elementCount() / shape[0];
    if (dataType.isFixedSize()) {
      long size = each * dataType.byteSize();
      return view(newShape, first * size, count * size);
    }
    long from = ByteStrings.skip(segment(), 0, first * each);
    return view(newShape, from, ByteStrings.skip(segment(), from, count * each) - from);
  }

  private Tensor view(long[] newShape, long offset, long size) {
    return address == 0 && !isOnDevice()
        ? new Tensor(owner, dataType, newShape, segment().asSlice(offset, size))
        : new Tensor(owner, dataType, newShape, address + offset, size);
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

  /** The number of dimensions. */
  public int rank() {
    return shape.length;
  }

  /** The size of one dimension. */
  public long dim(int index) {
    return shape[index];
  }

  /** The number of elements that the shape has. */
  @Override
  public long elementCount() {
    return Shapes.elementCount(shape);
  }

  /** Size of the memory. */
  public long byteSize() {
    return byteSize;
  }

  /**
   * True if the tensor lies on a GPU: then it has no {@link #segment}, and elements cannot be read.
   */
  public boolean isOnDevice() {
    return owner == TensorOwner.DEVICE;
  }

  /**
   * The memory. Read-only for the outputs of a response and the inputs of a batch, writable for
   * tensors that were allocated to be filled in.
   */
  @Override
  public MemorySegment segment() {
    checkOpen();
    MemorySegment known = segment;
    if (known == null) {
      known = owner.memory().asSlice(address, byteSize);
      segment = known;
    }
    return known;
  }

  /** A little-endian view of the {@linkplain #segment memory}, of 2 GiB at most. */
  public ByteBuffer byteBuffer() {
    return segment().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private void checkOpen() {
    if (owner != null) {
      owner.checkOpen();
    }
  }

  @Override
  MemorySegment base() {
    checkOpen();
    return address == 0 ? segment : owner.memory();
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

  /** The shape itself, which must not be changed. */
  long[] rawShape() {
    return shape;
  }

  TensorOwner owner() {
    return owner;
  }

  /** The address of the tensor in its owner's memory; 0: it is not there. */
  long address() {
    return address;
  }

  /**
   * The elements as an array of arrays: {@code toArray(float[][].class)} of a tensor with two
   * dimensions. Elements may be those of {@link #toFloatArray}, {@link #toIntArray} and the others
   * of their kind; an array with fewer dimensions than the tensor is refused.
   */
  public <T> T toArray(Class<T> type) {
    return Checks.notNull(type, "type").cast(NestedArrays.read(this, type));
  }

  /** Does the same as {@code toArray(float[][].class)}. */
  public float[][] toFloatArray2d() {
    return toArray(float[][].class);
  }

  /** Type and shape, without the elements. */
  @Override
  public String toString() {
    return dataType + Arrays.toString(shape);
  }
}
