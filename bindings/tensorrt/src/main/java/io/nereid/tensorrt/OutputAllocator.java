package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.function.LongUnaryOperator;
import org.bytedeco.tensorrt.nvinfer.IOutputAllocator;

/**
 * Gives TensorRT memory for an output whose size is known only while it runs, and is told its
 * shape. Its functions are called on the thread that enqueues, before that returns.
 */
final class OutputAllocator implements AutoCloseable {

  private static final NativeInterface.Type TYPE =
      new NativeInterface.Type("IOutputAllocator", "_ZTIN8nvinfer15v_1_016IOutputAllocatorE", 1, 0);

  /** {@code Dims64}: a count, and from here on eight sizes. */
  private static final long SIZES_AT = JAVA_LONG.byteSize();

  private static final int MAX_DIMS = 8;
  private static final long DIMS_BYTES = SIZES_AT + MAX_DIMS * JAVA_LONG.byteSize();

  private final NativeInterface object;
  private final LongUnaryOperator grow;
  private long[] shape;
  private RuntimeException failure;

  /** An allocator for one output; {@code grow} gives the address of so many bytes. */
  OutputAllocator(LongUnaryOperator grow) {
    this.grow = grow;
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    FunctionDescriptor reallocate =
        FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG);
    object =
        new NativeInterface(
            TYPE,
            NativeInterface.function(lookup, this, "reallocate", reallocate),
            NativeInterface.function(
                lookup, this, "reallocateAsync", reallocate.appendArgumentLayouts(ADDRESS)),
            NativeInterface.function(
                lookup, this, "notifyShape", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS)));
  }

  /** Returns the object that TensorRT is given; it is valid until this allocator is closed. */
  IOutputAllocator object() {
    return new IOutputAllocator(object.address());
  }

  void reset() {
    shape = null;
    failure = null;
  }

  /** The shape that TensorRT told; null: it has not. */
  long[] shape() {
    return shape;
  }

  /** Returns the reason why no memory was given; null: memory was given. */
  RuntimeException failure() {
    return failure;
  }

  /** After TensorRT was told to use another one, or its context is gone. */
  @Override
  public void close() {
    object.close();
  }

  // ---- Called by TensorRT: nothing may be thrown out of these ----------------------------------

  private MemorySegment reallocate(
      MemorySegment name, MemorySegment current, long size, long alignment) {
    return reallocateAsync(name, current, size, alignment, MemorySegment.NULL);
  }

  private MemorySegment reallocateAsync(
      MemorySegment name, MemorySegment current, long size, long alignment, MemorySegment stream) {
    try {
      long address = grow.applyAsLong(size);
      // Devices differ in what they ask for: what counts is where the memory lies.
      if (alignment > 1 && Long.remainderUnsigned(address, alignment) != 0) {
        throw new IllegalStateException(
            "TensorRT asks for a multiple of " + alignment + ", CUDA gave address " + address);
      }
      return MemorySegment.ofAddress(address);
    } catch (Throwable t) {
      failure = t instanceof RuntimeException e ? e : new IllegalStateException(t);
      return MemorySegment.NULL;
    }
  }

  @SuppressWarnings("restricted")
  private void notifyShape(MemorySegment name, MemorySegment dims) {
    try {
      MemorySegment told = dims.reinterpret(DIMS_BYTES);
      long[] sizes = new long[told.get(JAVA_INT, 0)];
      for (int i = 0; i < sizes.length; i++) {
        sizes[i] = told.get(JAVA_LONG, SIZES_AT + i * JAVA_LONG.byteSize());
      }
      shape = sizes;
    } catch (Throwable t) {
      TensorRtLog.LOGGER.log(Level.ERROR, "cannot read the shape of an output", t);
    }
  }
}
