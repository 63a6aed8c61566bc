package io.nereid.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.types.ByteStrings;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import io.nereid.types.Shapes;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A datatype, a shape, and memory. A tensor made by one of the factories is a view of the caller's
 * memory, which must stay as it is until the call that sends it has ended. One of an {@link
 * InferResponse} can be used until the response is closed; afterwards its methods throw {@link
 * IllegalStateException}, and segments and buffers taken from it before must not be used any more.
 *
 * <p>Elements are in row-major order and little-endian, and may lie at any address: read segments
 * with the unaligned layouts. Arrays that are given as shapes are kept: do not change them.
 */
public final class Tensor {

  private final InferResponse owner; // null: the caller's memory
  private final DataType dataType;
  private final long[] shape;
  private final MemorySegment segment; // null: in shared memory that is not mapped here
  private final SharedMemory.Slice slice; // null: the bytes themselves are sent

  private Tensor(
      InferResponse owner,
      DataType dataType,
      MemorySegment segment,
      SharedMemory.Slice slice,
      long[] shape) {
    this.owner = owner;
    this.dataType = Objects.requireNonNull(dataType);
    this.segment = segment;
    this.slice = slice;
    this.shape = Objects.requireNonNull(shape);
  }

  /** A tensor of a response; {@code segment} is null where it lies in memory not mapped here. */
  static Tensor ofResponse(
      InferResponse owner,
      DataType type,
      MemorySegment segment,
      SharedMemory.Slice slice,
      long[] shape) {
    return new Tensor(owner, type, segment, slice, shape);
  }

  // ---- Factories -------------------------------------------------------------------------------

  /**
   * A tensor of any type over {@code segment}. Native memory that other threads may use is sent as
   * it is; other memory is copied once.
   */
  public static Tensor of(DataType dataType, MemorySegment segment, long... shape) {
    Shapes.checkByteSize(dataType, segment.byteSize(), shape);
    return new Tensor(null, dataType, segment, null, shape);
  }

  /** A tensor of any type over what remains of {@code buffer}, which is little-endian. */
  public static Tensor of(DataType dataType, ByteBuffer buffer, long... shape) {
    return of(dataType, MemorySegment.ofBuffer(buffer), shape);
  }

  /** A tensor that lies in shared memory the server knows; only its place is sent. */
  public static Tensor ofSharedMemory(DataType dataType, SharedMemory.Slice slice, long... shape) {
    Shapes.checkByteSize(dataType, slice.byteSize(), shape);
    return new Tensor(null, dataType, slice.mapped(), slice, shape);
  }

  /** An INT32 tensor over the array. */
  public static Tensor ofInts(int[] values, long... shape) {
    return of(DataType.INT32, MemorySegment.ofArray(values), shape);
  }

  /** An INT64 tensor over the array. */
  public static Tensor ofLongs(long[] values, long... shape) {
    return of(DataType.INT64, MemorySegment.ofArray(values), shape);
  }

  /** An FP32 tensor over the array. */
  public static Tensor ofFloats(float[] values, long... shape) {
    return of(DataType.FP32, MemorySegment.ofArray(values), shape);
  }

  /** An FP64 tensor over the array. */
  public static Tensor ofDoubles(double[] values, long... shape) {
    return of(DataType.FP64, MemorySegment.ofArray(values), shape);
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
    return of(dataType, MemorySegment.ofArray(halves), shape);
  }

  /** A BOOL tensor with the values. */
  public static Tensor ofBooleans(boolean[] values, long... shape) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (values[i] ? 1 : 0);
    }
    return of(DataType.BOOL, MemorySegment.ofArray(bytes), shape);
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
    return of(DataType.BYTES, ByteStrings.encode(values), shape);
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

  /** How many elements the shape has. */
  public long elementCount() {
    return Shapes.elementCount(shape);
  }

  /** Size of the memory. */
  public long byteSize() {
    return segment == null ? slice.byteSize() : segment.byteSize();
  }

  /** The memory; read-only when it belongs to a response. */
  public MemorySegment segment() {
    if (owner != null) {
      owner.checkOpen();
    }
    if (segment == null) {
      throw new IllegalStateException(
          "the tensor lies in shared memory region '"
              + slice.region()
              + "', which this slice of it does not map");
    }
    return segment;
  }

  /** A little-endian view of the memory; read-only when it belongs to a response. */
  public ByteBuffer byteBuffer() {
    MemorySegment memory = segment();
    // Segments over arrays of numbers have no view as bytes.
    boolean viewable =
        memory.isNative() || memory.heapBase().map(base -> base instanceof byte[]).orElse(true);
    ByteBuffer buffer =
        viewable ? memory.asByteBuffer() : ByteBuffer.wrap(memory.toArray(JAVA_BYTE));
    return buffer.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Where it lies when that is all that is sent; null: the bytes are. */
  SharedMemory.Slice slice() {
    return slice;
  }

  /** The shape itself, for reading. */
  long[] rawShape() {
    return shape;
  }

  // ---- Elements as arrays ----------------------------------------------------------------------

  /** A copy of the elements of an INT32 or UINT32 tensor. */
  public int[] toIntArray() {
    require(dataType == DataType.INT32 || dataType == DataType.UINT32, "toIntArray");
    return segment().toArray(Layouts.INT);
  }

  /** A copy of the elements of an INT64 or UINT64 tensor. */
  public long[] toLongArray() {
    require(dataType == DataType.INT64 || dataType == DataType.UINT64, "toLongArray");
    return segment().toArray(Layouts.LONG);
  }

  /** A copy of the elements of a tensor with 16-bit elements; of FP16 and BF16 the bit patterns. */
  public short[] toShortArray() {
    require(dataType.byteSize() == Short.BYTES, "toShortArray");
    return segment().toArray(Layouts.SHORT);
  }

  /** A copy of the memory of a tensor of any type. */
  public byte[] toByteArray() {
    return segment().toArray(JAVA_BYTE);
  }

  /** The elements of an FP32, FP16 or BF16 tensor. */
  public float[] toFloatArray() {
    if (dataType == DataType.FP32) {
      return segment().toArray(Layouts.FLOAT);
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
    return segment().toArray(Layouts.DOUBLE);
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
    MemorySegment encoded = segment();
    long count = elementCount();
    long size = byteStringsSize(encoded, count);
    if (size != encoded.byteSize()) {
      throw InferenceException.malformed(
          (encoded.byteSize() - size)
              + " bytes follow the last of "
              + count
              + " elements of a BYTES tensor");
    }
    return ByteStrings.decode(encoded, (int) count);
  }

  /** The size of the first {@code count} elements of a BYTES tensor. */
  static long byteStringsSize(MemorySegment encoded, long count) {
    long at = 0;
    for (long i = 0; i < count; i++) {
      long left = encoded.byteSize() - at - Integer.BYTES;
      long length = left < 0 ? 0 : Integer.toUnsignedLong(encoded.get(Layouts.INT, at));
      if (length > left) {
        throw InferenceException.malformed(
            "element "
                + i
                + " of a BYTES tensor of "
                + count
                + " begins at byte "
                + at
                + " and ends beyond its "
                + encoded.byteSize()
                + " bytes");
      }
      at += Integer.BYTES + length;
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
