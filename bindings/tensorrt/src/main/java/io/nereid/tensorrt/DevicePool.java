package io.nereid.tensorrt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * Memory of one GPU for inputs, outputs and activations. The pool keeps memory that is given back
 * for the next model, because freeing it makes the whole device wait; when the device is short of
 * memory, the pool frees it.
 */
final class DevicePool {

  /** The smallest block: smaller sizes are rounded up to it. */
  static final long SMALLEST = 512;

  /** The size from which sizes are rounded up to its multiples; CUDA maps memory in this unit. */
  private static final long LARGE = 2L << 20;

  private static final Map<Integer, DevicePool> OF_DEVICES = new ConcurrentHashMap<>();

  /** Takes memory from the device and frees it; tests have another source. */
  interface Source {
    /** Allocates memory and returns its address; 0: there is none. */
    long allocate(long byteSize);

    void free(long address);

    /** The state of the device's memory, for messages. */
    String state();
  }

  /** A block of memory, at least as large as was asked for, with its pool. */
  record Block(DevicePool memory, long address, long byteSize) {

    /** Gives the block back, once. The device must not use it any more. */
    void release() {
      memory.release(this);
    }
  }

  private final Source source;

  @GuardedBy("this")
  private final TreeMap<Long, Deque<Block>> idle = new TreeMap<>();

  @GuardedBy("this")
  private long liveBytes;

  @GuardedBy("this")
  private long idleBytes;

  DevicePool(Source source) {
    this.source = source;
  }

  /** The pool of a device, which must be the calling thread's device whenever memory is taken. */
  static DevicePool of(Gpu device) {
    return OF_DEVICES.computeIfAbsent(
        device.number(), number -> new DevicePool(new CudaSource(device)));
  }

  synchronized long liveBytes() {
    return liveBytes;
  }

  synchronized long idleBytes() {
    return idleBytes;
  }

  /**
   * Takes a block of at least this size.
   *
   * @param purpose the use of the memory, for messages
   * @throws NereidException {@link StatusCode#RESOURCE_EXHAUSTED}: there is none
   */
  synchronized Block allocate(long byteSize, String purpose) {
    long rounded = rounded(byteSize);
    Deque<Block> fitting = idle.get(rounded);
    if (fitting != null) {
      Block block = fitting.pop();
      if (fitting.isEmpty()) {
        idle.remove(rounded);
      }
      idleBytes -= rounded;
      return lent(block);
    }
    long address = source.allocate(rounded);
    if (address == 0 && idleBytes > 0) {
      trim();
      address = source.allocate(rounded);
    }
    if (address == 0) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          ("expected %s bytes of memory for %s, %s; Nereid's inputs, outputs and"
                  + " activations take %s: use fewer instances, batches_in_flight or a smaller"
                  + " profile")
              .formatted(rounded, purpose, source.state(), liveBytes));
    }
    return lent(new Block(this, address, rounded));
  }

  @GuardedBy("this")
  private Block lent(Block block) {
    liveBytes += block.byteSize();
    return block;
  }

  /** Gives the block back from which this memory was taken; called once. */
  static void release(DeviceMemory memory) {
    DevicePool pool = OF_DEVICES.get(memory.device());
    pool.release(new Block(pool, memory.address(), rounded(memory.byteSize())));
  }

  private synchronized void release(Block block) {
    liveBytes -= block.byteSize();
    idleBytes += block.byteSize();
    idle.computeIfAbsent(block.byteSize(), size -> new ArrayDeque<>()).push(block);
  }

  /** Frees the memory that is kept for later. */
  synchronized void trim() {
    List<Block> blocks = new ArrayList<>();
    idle.values().forEach(blocks::addAll);
    idle.clear();
    idleBytes = 0;
    blocks.forEach(block -> source.free(block.address()));
  }

  /**
   * Rounds small sizes up to powers of two, so that blocks can be reused, and large ones to
   * multiples of 2 MiB.
   */
  static long rounded(long byteSize) {
    if (byteSize <= SMALLEST) {
      return SMALLEST;
    }
    if (byteSize >= LARGE) {
      return Math.ceilDiv(byteSize, LARGE) * LARGE;
    }
    return Long.highestOneBit(byteSize - 1) << 1;
  }

  private record CudaSource(Gpu device) implements Source {

    @Override
    public long allocate(long byteSize) {
      Pointer memory = new Pointer();
      int result = cudart.cudaMalloc(memory, byteSize);
      if (result == cudart.cudaErrorMemoryAllocation) {
        cudart.cudaGetLastError(); // else the next call on this thread would return it
        return 0;
      }
      CudaRuntime.check(result, "cudaMalloc");
      return memory.address();
    }

    @Override
    public void free(long address) {
      try {
        CudaRuntime.check(cudart.cudaFree(new NativePointer(address)), "cudaFree");
        // CUDA has failed for good, which the freeing code cannot handle
      } catch (NereidException e) {
        TensorRtLog.LOGGER.log(
            Level.WARNING,
            "cannot give memory back to GPU {0}: {1}",
            device.number(),
            e.getMessage());
      }
    }

    @Override
    public String state() {
      try (SizeTPointer free = new SizeTPointer(1);
          SizeTPointer total = new SizeTPointer(1)) {
        CudaRuntime.check(cudart.cudaMemGetInfo(free, total), "cudaMemGetInfo");
        return "GPU %s (%s) has %s of %s left"
            .formatted(device.number(), device.name(), free.get(), total.get());
      }
    }
  }
}
