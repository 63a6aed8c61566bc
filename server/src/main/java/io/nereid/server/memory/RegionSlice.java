package io.nereid.server.memory;

import io.nereid.InferRequest;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The part of a region with a request's tensor. It can be used until it is closed, even if the
 * region is unregistered meanwhile; a slice that is not closed keeps its segment open.
 */
public final class RegionSlice implements AutoCloseable {

  /** Copying as much takes 30 µs. */
  private static final long MOST_SHORT_BYTES = 256 << 10;

  private final SharedMemoryRegions regions;
  private final SharedMemoryRegions.Registered registered;
  private final long offset;
  private final long byteSize;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** One until it is closed, and one for each thread that copies now: the last one releases. */
  private final AtomicInteger uses = new AtomicInteger(1);

  private boolean lent; // the model itself writes the output into the slice

  RegionSlice(
      SharedMemoryRegions regions,
      SharedMemoryRegions.Registered registered,
      long offset,
      long byteSize) {
    this.regions = regions;
    this.registered = registered;
    this.offset = offset;
    this.byteSize = byteSize;
  }

  /** True if {@link #read} or {@link #write} takes so long that it would hold up an event loop. */
  public boolean isLong() {
    return !lent && (byteSize > MOST_SHORT_BYTES || onDevice().isPresent());
  }

  private Optional<DeviceMemory> onDevice() {
    return registered.memory().onDevice(position(), byteSize);
  }

  /** Its size in bytes. */
  public long byteSize() {
    return byteSize;
  }

  /**
   * Gives a request its input without a copy, if the slice is on a GPU and the request's model
   * reads it there. The region stays in use until the model has read it, even if this is closed.
   *
   * @return whether it did; otherwise the caller uses {@link #read}
   */
  public boolean lend(InferRequest request, String input, long[] shape) {
    checkOpen();
    Optional<DeviceMemory> memory = onDevice();
    if (memory.isEmpty() || !request.takesDeviceInputs(memory.get().device())) {
      return false;
    }
    regions.retain(registered);
    boolean given = false;
    try {
      request.deviceInput(input, memory.get(), () -> regions.releaseAside(registered), shape);
      given = true;
    } finally {
      if (!given) {
        regions.release(registered);
      }
    }
    return true;
  }

  /**
   * Makes the model write a request's output into the slice, if that is on a GPU and the model can;
   * else the caller uses {@link #write}. The region stays in use as with {@link #lend(InferRequest,
   * String, long[])}.
   */
  public void lend(InferRequest request, String output) {
    checkOpen();
    Optional<DeviceMemory> memory = onDevice();
    if (memory.isEmpty() || !request.takesDeviceOutput(output, memory.get().device())) {
      return;
    }
    regions.retain(registered);
    try {
      request.deviceOutput(output, memory.get(), () -> regions.releaseAside(registered));
      lent = true;
    } finally {
      if (!lent) {
        regions.release(registered);
      }
    }
  }

  /** Fills memory of the slice's size, such as a request's input, from the region. */
  public void read(MemorySegment to) {
    if (to.byteSize() != byteSize) {
      throw new IllegalArgumentException(
          "expected memory of " + byteSize + " bytes, got " + to.byteSize());
    }
    begin();
    try {
      registered.memory().read(position(), to);
    } finally {
      end();
    }
  }

  /**
   * Does the same as {@link #write(String, MemorySegment)}, unless the model wrote the output into
   * the slice.
   */
  public void write(String output, Tensor tensor) {
    if (!lent) {
      write(output, tensor.segment());
    }
  }

  /** Writes an output into the region, from the start of the slice on; it may be smaller. */
  void write(String output, MemorySegment from) {
    if (from.byteSize() > byteSize) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          ("shared memory size specified with the request for output '%s' (%s bytes) should be "
                  + "at least %s bytes to hold the results")
              .formatted(output, byteSize, from.byteSize()));
    }
    begin();
    try {
      registered.memory().write(position(), from);
    } finally {
      end();
    }
  }

  private long position() {
    return registered.region().offset() + offset;
  }

  private void checkOpen() {
    if (closed.get()) {
      throw closed();
    }
  }

  private void begin() {
    if (uses.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
      throw closed();
    }
  }

  private void end() {
    if (uses.decrementAndGet() == 0) {
      regions.release(registered);
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the slice was closed");
  }

  /** Releases the region, after threads that copy. Closing twice does nothing. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      end();
    }
  }
}
