package io.nereid.tensorrt;

import java.lang.foreign.MemorySegment;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;

/**
 * Page-locked memory of the processor, which grows when more is asked for. One thread at a time.
 */
final class PinnedBuffer implements AutoCloseable {

  private Pointer memory = new Pointer();
  private MemorySegment segment = MemorySegment.NULL;

  /** Memory of at least this size; what an earlier call returned is gone when it had to grow. */
  @SuppressWarnings("restricted")
  MemorySegment ofSize(long byteSize) {
    if (byteSize > segment.byteSize()) {
      close();
      long rounded = DeviceMemory.rounded(byteSize);
      CudaLibrary.check(
          cudart.cudaHostAlloc(memory, rounded, cudart.cudaHostAllocPortable),
          "page-locking " + rounded + " bytes");
      segment = MemorySegment.ofAddress(memory.address()).reinterpret(rounded);
    }
    return segment;
  }

  @Override
  public void close() {
    if (!memory.isNull()) {
      CudaLibrary.check(cudart.cudaFreeHost(memory), "cudaFreeHost");
      memory = new Pointer();
      segment = MemorySegment.NULL;
    }
  }
}
