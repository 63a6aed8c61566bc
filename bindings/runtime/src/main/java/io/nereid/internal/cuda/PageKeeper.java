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
   * Locks memory for all GPUs. Throws if that fails; the memory is used nevertheless.
   *
   * @param device number of the GPU whose context makes the call
   */
  void lock(int device, long memory, long byteSize);

  /** Takes {@link #lock} back. */
  void unlock(int device, long memory, long byteSize);
}
