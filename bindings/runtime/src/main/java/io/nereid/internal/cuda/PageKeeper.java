package io.nereid.internal.cuda;

/** Keeps memory where it is, for devices that read and write it without the processor. */
public interface PageKeeper {

  /** CUDA's page-locked memory. */
  PageKeeper CUDA =
      new PageKeeper() {
        @Override
        public void lock(int device, long memory, long byteSize) {
          CudaDriver.instance().device(device).lockPages(memory, byteSize);
        }

        @Override
        public void unlock(int device, long memory, long byteSize) {
          CudaDriver.instance().device(device).unlockPages(memory);
        }
      };

  /**
   * Throws where it cannot; the memory is used all the same.
   *
   * @param device number of the GPU whose context does it; it is done for all GPUs
   */
  void lock(int device, long memory, long byteSize);

  /** Takes {@link #lock} back. */
  void unlock(int device, long memory, long byteSize);
}
