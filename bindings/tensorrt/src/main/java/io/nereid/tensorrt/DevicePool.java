package io.nereid.tensorrt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.cuda.CudaDriver;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * Memory of one GPU for inputs, outputs and activations. The pool keeps memory that is given back
 * for later, because freeing it makes the whole device wait: no more than was in use at once since
 * an engine left, and nothing when one leaves or the device is short of memory.
 */
final class DevicePool {

  /** The smallest block: smaller sizes are rounded up to it. */
  static final long SMALLEST = 512;

  /** The size from which sizes are rounded up to its multiples; CUDA maps memory in this unit. */
  private static final long LARGE = 2L << 20;

  /** The bytes that are kept even if less was in use. */
  static final long KEPT = 64L << 20;

  private static final Map<Integer, DevicePool> OF_DEVICES = new ConcurrentHashMap<>();

  /** Takes memory from the device and frees it; tests have another source. */
  interface Source {
    /** Allocates memory and returns its address; 0: there is none. */
    long allocate(long byteSize);

    void free(long address);

    /** Frees what all keep for later on this device, other pools too; false: there was nothing. */
    boolean relieve();

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

  /** The blocks that are kept, by size; the size that was not asked for the longest comes first. */
  @GuardedBy("this")
  private final SequencedMap<Long, Deque<Block>> idle = new LinkedHashMap<>(16, 0.75f, true);

  @GuardedBy("this")
  private long liveBytes;

  /** The most of them since the last {@link #trim}. */
  @GuardedBy("this")
  private long peakBytes;

  @GuardedBy("this")
  private long idleBytes;

  DevicePool(Source source) {
    this.source = source;
  }

  /** The pool of a device, which must be the calling thread's device whenever memory is taken. */
  static DevicePool of(Gpu device) {
    return OF_DEVICES.computeIfAbsent(
        device.number(),
        number -> {
          DevicePool made = new DevicePool(new CudaSource(device));
          CudaDriver.instance().device(number).onShortage(made::trim);
          return made;
        });
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
  Block allocate(long byteSize, String purpose) {
    long rounded = rounded(byteSize);
    Block block = find(rounded);
    if (block == null && source.relieve()) {
      block = find(rounded);
    }
    if (block == null) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          ("expected %s bytes of memory for %s, %s; Nereid's inputs, outputs and"
                  + " activations take %s: use fewer instances, batches_in_flight or a smaller"
                  + " profile")
              .formatted(rounded, purpose, source.state(), liveBytes()));
    }
    return block;
  }

  /** Lends a block that is kept, or of the device's memory; null: the device has none. */
  private synchronized Block find(long byteSize) {
    Block block = takeIdle(byteSize);
    if (block == null) {
      long address = source.allocate(byteSize);
      if (address == 0) {
        return null;
      }
      block = new Block(this, address, byteSize);
    }
    liveBytes += byteSize;
    peakBytes = Math.max(peakBytes, liveBytes);
    return block;
  }

  /** Takes a block of this size out of those that are kept; null: there is none. */
  @GuardedBy("this")
  private Block takeIdle(long byteSize) {
    Deque<Block> fitting = idle.get(byteSize);
    if (fitting == null) {
      return null;
    }
    Block block = fitting.pop();
    if (fitting.isEmpty()) {
      idle.remove(byteSize);
    }
    idleBytes -= byteSize;
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
    freeIdle(Math.max(peakBytes - liveBytes, KEPT));
  }

  /** Frees the memory that is kept for later; false: there is none. */
  synchronized boolean trim() {
    boolean any = idleBytes > 0;
    freeIdle(0);
    peakBytes = liveBytes;
    return any;
  }

  /** Frees blocks until at most so many bytes are kept. */
  @GuardedBy("this")
  private void freeIdle(long most) {
    while (idleBytes > most) {
      source.free(takeIdle(idle.firstEntry().getKey()).address());
    }
  }

  /** Frees what all keep for later on this device; false: there was nothing. */
  boolean relieve() {
    return source.relieve();
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
    public boolean relieve() {
      return CudaDriver.instance().device(device.number()).relieve();
    }

    @Override
    public void free(long address) {
      // Any thread may call this, and CUDA would give it a context on the first device.
      cudart.cudaSetDevice(device.number());
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
