package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;

import io.nereid.tensor.DeviceMemory;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * An {@code nrd_tensor}: an input or an output of a request or a batch. The memory is the core's
 * and valid as long as that request's or batch's record; the thread that may use the record may
 * read and write it.
 */
public final class TensorRecord {

  /** {@code NRD_MAX_RANK}. */
  public static final int MAX_RANK = 8;

  private static final int SELECTED = 1; // NRD_TENSOR_SELECTED
  private static final int DEVICE = 2; // NRD_TENSOR_DEVICE

  static final StructLayout LAYOUT =
      Memory.struct(
          "long data, byte_size, slab; int datatype, rank, flags, device; "
              + "long["
              + MAX_RANK
              + "] shape");

  private static final long SIZE = LAYOUT.byteSize();
  private static final long DATA = offset(LAYOUT, "data");
  private static final long BYTE_SIZE = offset(LAYOUT, "byte_size");
  private static final long SLAB = offset(LAYOUT, "slab");
  private static final long DATATYPE = offset(LAYOUT, "datatype");
  private static final long RANK = offset(LAYOUT, "rank");
  private static final long FLAGS = offset(LAYOUT, "flags");
  private static final long DEVICE_NUMBER = offset(LAYOUT, "device");
  static final long SHAPE = offset(LAYOUT, "shape");

  // An output that is wanted on a device has NRD_TARGET_ADDRESS and NRD_TARGET_BYTES in place of a
  // shape.
  private static final long TARGET_ADDRESS = SHAPE;
  private static final long TARGET_BYTES = SHAPE + Long.BYTES;

  private final long address;

  private TensorRecord(long address) {
    this.address = address;
  }

  /** Tensor {@code index} of the array that begins at an address. */
  static TensorRecord at(long array, int index) {
    return new TensorRecord(array + index * SIZE);
  }

  /** True for an input that is given, and for an output that is wanted. */
  public boolean isSelected() {
    return (flags() & SELECTED) != 0;
  }

  /** True if the tensor lies, or is wanted, in the memory of a GPU. */
  public boolean isOnDevice() {
    return (flags() & DEVICE) != 0;
  }

  private int flags() {
    return Memory.readInt(address + FLAGS);
  }

  /** True if the tensor has memory. */
  public boolean isThere() {
    return data() != 0;
  }

  /** The address of the tensor's memory; 0: it has none. */
  public long data() {
    return Memory.readLong(address + DATA);
  }

  /** The size of the tensor's memory. */
  public long byteSize() {
    return Memory.readLong(address + BYTE_SIZE);
  }

  /** The buffer of the pool that contains the tensor's memory; 0: none. */
  public long buffer() {
    return Memory.readLong(address + SLAB);
  }

  /** The type of its elements. */
  public DataType dataType() {
    return DataType.ofCode(Memory.readInt(address + DATATYPE));
  }

  /** The shape, as a fresh array. */
  public long[] shape() {
    int rank = Memory.readInt(address + RANK);
    long[] shape = new long[rank];
    for (int i = 0; i < rank; i++) {
      shape[i] = Memory.readLong(address + SHAPE + (long) i * Long.BYTES);
    }
    return shape;
  }

  /** The number of the tensor's elements. */
  public long elementCount() {
    long count = 1;
    for (int i = Memory.readInt(address + RANK); i-- > 0; ) {
      count *= Memory.readLong(address + SHAPE + (long) i * Long.BYTES);
    }
    return count;
  }

  /** The first dimension. */
  public long rows() {
    return Memory.readLong(address + SHAPE);
  }

  /** The number of the GPU that the tensor lies on, or is wanted on. */
  public int deviceNumber() {
    return Memory.readInt(address + DEVICE_NUMBER);
  }

  /** The memory of a GPU in which an input lies. */
  public DeviceMemory deviceMemory() {
    return new DeviceMemory(deviceNumber(), data(), byteSize());
  }

  // ---- Filling in a request --------------------------------------------------------------------

  /** Writes an input's type, shape and size, without its memory. */
  public void describe(DataType type, long[] shape, long byteSize) {
    Memory.writeLong(address + BYTE_SIZE, byteSize);
    Memory.writeInt(address + DATATYPE, type.code());
    Memory.writeInt(address + RANK, shape.length);
    for (int i = 0; i < shape.length; i++) {
      Memory.writeLong(address + SHAPE + (long) i * Long.BYTES, shape[i]);
    }
  }

  /** Marks an output as wanted. */
  public void select() {
    Memory.writeInt(address + FLAGS, flags() | SELECTED);
  }

  /** Marks an input as not given. */
  public void deselect() {
    Memory.writeInt(address + FLAGS, 0);
  }

  /** Gives an input memory that the core only borrows. */
  public void lend(MemorySegment segment) {
    Memory.writeLong(address + DATA, segment.address());
    Memory.writeInt(address + FLAGS, SELECTED);
  }

  /** Gives an input memory on a GPU. */
  public void lend(DeviceMemory memory) {
    Memory.writeLong(address + DATA, memory.address());
    Memory.writeInt(address + DEVICE_NUMBER, memory.device());
    Memory.writeInt(address + FLAGS, SELECTED | DEVICE);
  }

  /** Marks an output as wanted in the memory of a GPU. */
  public void target(DeviceMemory memory) {
    Memory.writeInt(address + DEVICE_NUMBER, memory.device());
    Memory.writeLong(address + TARGET_ADDRESS, memory.address());
    Memory.writeLong(address + TARGET_BYTES, memory.byteSize());
    Memory.writeInt(address + FLAGS, SELECTED | DEVICE);
  }

  /** Copies another tensor's description, with a new reference to its buffer. */
  public void copy(TensorRecord other) {
    Memory.copy(other.address, address, SIZE);
    if (buffer() != 0) {
      retain(buffer());
    }
  }

  /** Makes an input refer to part of a buffer, with a new reference to that. */
  public void share(long buffer, long data) {
    retain(buffer);
    Memory.writeLong(address + DATA, data);
    Memory.writeLong(address + SLAB, buffer);
    Memory.writeInt(address + FLAGS, SELECTED);
  }

  /** Copies a segment of the tensor's size into its memory. */
  public void copyFrom(MemorySegment segment) {
    Memory.write(data(), segment, byteSize());
  }

  // ---- Buffers ---------------------------------------------------------------------------------

  /** Moves the reference to the buffer from the tensor to the caller. */
  public void takeBuffer() {
    Memory.writeLong(address + SLAB, 0);
  }

  private static void retain(long buffer) {
    try {
      Handles.BUFFER_RETAIN.invokeExact(buffer);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives a reference to a buffer back. */
  public static void release(long buffer) {
    try {
      Handles.BUFFER_RELEASE.invokeExact(buffer);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }
}
