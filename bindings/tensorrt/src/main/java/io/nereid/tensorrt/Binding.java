package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;

/**
 * An input or output of an engine with one instance's memory for it. The memory does not move, as
 * captured graphs need, until a larger tensor comes.
 */
final class Binding implements AutoCloseable {

  private final EngineTensor tensor;
  private final int specIndex;
  private final BytePointer name;
  private final DevicePool memory;
  private final PinnedBuffer host = new PinnedBuffer();
  private DevicePool.Block block;
  private MemorySegment hostMemory = MemorySegment.NULL;
  private OutputAllocator allocator;

  /**
   * Makes a binding without memory.
   *
   * @param specIndex the tensor's position in the model's specification; -1: it is not served
   */
  Binding(EngineTensor tensor, int specIndex, DevicePool memory) {
    this.tensor = tensor;
    this.specIndex = specIndex;
    this.memory = memory;
    name = new BytePointer(tensor.name());
  }

  EngineTensor tensor() {
    return tensor;
  }

  int specIndex() {
    return specIndex;
  }

  boolean isServed() {
    return specIndex >= 0;
  }

  BytePointer name() {
    return name;
  }

  /** Returns the address at which TensorRT reads or writes the tensor. */
  long address() {
    if (tensor.onHost()) {
      return hostMemory.address();
    }
    return block == null ? 0 : block.address();
  }

  long deviceBytes() {
    return block == null ? 0 : block.byteSize();
  }

  /**
   * Ensures memory for so many bytes, at least one; if that fails, the binding has no memory
   * afterwards. The device must not be using the memory.
   */
  void ensure(long byteSize) {
    if (tensor.onHost()) {
      hostMemory = MemorySegment.NULL;
      hostMemory = host.ofSize(Math.max(1, byteSize));
    } else if (block == null || block.byteSize() < byteSize) {
      release();
      block = memory.allocate(byteSize, tensor.title());
    }
  }

  private void release() {
    if (block != null) {
      DevicePool.Block old = block;
      block = null;
      old.release();
    }
  }

  /**
   * The processor's memory: the tensor's own if it is on the processor, else a buffer for
   * gathering.
   */
  MemorySegment host(long byteSize) {
    return tensor.onHost() ? hostMemory : host.ofSize(byteSize);
  }

  /** Makes TensorRT ask for memory while it runs, because the output's size depends on the data. */
  void allocateWhileRunning() {
    allocator =
        new OutputAllocator(byteSize -> {
          ensure(byteSize);
          return address();
        });
  }

  /** The allocator of the output; null: its size follows from the shapes of the inputs. */
  OutputAllocator allocator() {
    return allocator;
  }

  long byteSize(long[] shape) {
    try {
      long bytes = tensor.type().byteSize();
      for (long size : shape) {
        bytes = Math.multiplyExact(bytes, size);
      }
      return bytes;
    } catch (ArithmeticException e) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "the engine's profiles allow more bytes for "
              + tensor.title()
              + " than a number can hold: name a smaller profile in the instance group");
    }
  }

  /** Reads the integers of a tensor in the processor's memory, from which shapes are computed. */
  long[] values(long byteSize) {
    int size = tensor.type().byteSize();
    long[] values = new long[Math.toIntExact(byteSize / size)];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          tensor.type() == EngineType.INT64
              ? hostMemory.getAtIndex(JAVA_LONG_UNALIGNED, i)
              : hostMemory.getAtIndex(JAVA_INT_UNALIGNED, i);
    }
    return values;
  }

  /** Writes the integers of such a tensor. */
  void write(List<Long> values) {
    for (int i = 0; i < values.size(); i++) {
      if (tensor.type() == EngineType.INT64) {
        hostMemory.setAtIndex(JAVA_LONG_UNALIGNED, i, values.get(i));
      } else {
        hostMemory.setAtIndex(JAVA_INT_UNALIGNED, i, values.get(i).intValue());
      }
    }
  }

  @Override
  public void close() {
    release();
    host.close();
    if (allocator != null) {
      allocator.close();
    }
    name.close();
  }

  /** Page-locked memory of the processor, which grows when more is asked for. */
  private static final class PinnedBuffer implements AutoCloseable {

    private Pointer memory = new Pointer();
    private MemorySegment segment = MemorySegment.NULL;

    /** Returns memory of at least this size; if it had to grow, the earlier memory is freed. */
    @SuppressWarnings("restricted")
    MemorySegment ofSize(long byteSize) {
      if (byteSize > segment.byteSize()) {
        close();
        long rounded = DevicePool.rounded(byteSize);
        CudaRuntime.check(
            cudart.cudaHostAlloc(memory, rounded, cudart.cudaHostAllocPortable),
            "page-locking " + rounded + " bytes");
        segment = MemorySegment.ofAddress(memory.address()).reinterpret(rounded);
      }
      return segment;
    }

    @Override
    public void close() {
      if (!memory.isNull()) {
        CudaRuntime.check(cudart.cudaFreeHost(memory), "cudaFreeHost");
        memory = new Pointer();
        segment = MemorySegment.NULL;
      }
    }
  }
}
