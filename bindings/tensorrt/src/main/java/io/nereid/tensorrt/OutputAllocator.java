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
 * Gives TensorRT memory for an output whose size is known only while it runs, and learns the shape.
 * TensorRT calls its functions on the enqueueing thread, before enqueue returns.
 */
final class OutputAllocator implements AutoCloseable {

  private static final NativeInterface.Type TYPE =
      new NativeInterface.Type("IOutputAllocator", "_ZTIN8nvinfer15v_1_016IOutputAllocatorE", 1, 0);

  /** The offset of the eight sizes in {@code Dims64}, behind a count. */
  private static final long SIZES_AT = JAVA_LONG.byteSize();

  private static final int MAX_DIMS = 8;
  private static final long DIMS_BYTES = SIZES_AT + MAX_DIMS * JAVA_LONG.byteSize();

  private final NativeInterface object;
  private final LongUnaryOperator grow;
  private long[] shape;
  private RuntimeException failure;

  /** Makes an allocator for one output; {@code grow} returns the address of so many bytes. */
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

  /** Returns the object for TensorRT, which is valid until this allocator is closed. */
  IOutputAllocator object() {
    return new IOutputAllocator(object.address());
  }

  void reset() {
    shape = null;
    failure = null;
  }

  /** The shape from TensorRT; null: none so far. */
  long[] shape() {
    return shape;
  }

  /** Returns the reason why no memory was given; null: memory was given. */
  RuntimeException failure() {
    return failure;
  }

  /** Called after TensorRT was given another allocator, or its context is gone. */
  @Override
  public void close() {
    object.close();
  }

  // ---- Called by TensorRT: these must not throw -----------------------------------------------

  private MemorySegment reallocate(
      MemorySegment name, MemorySegment current, long size, long alignment) {
    return reallocateAsync(name, current, size, alignment, MemorySegment.NULL);
  }

  private MemorySegment reallocateAsync(
      MemorySegment name, MemorySegment current, long size, long alignment, MemorySegment stream) {
    try {
      long address = grow.applyAsLong(size);
      // Requested alignments differ between devices: only the actual address counts.
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
