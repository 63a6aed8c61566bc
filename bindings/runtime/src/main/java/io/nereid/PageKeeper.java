package io.nereid;

import io.nereid.internal.cuda.CudaDriver;

/** Keeps memory where it is, for devices that read and write it without the processor. */
interface PageKeeper {

  /** CUDA's page-locked memory. */
  PageKeeper CUDA =
      new PageKeeper() {
        @Override
        public void lock(long memory, long byteSize) {
          CudaDriver.instance().lockPages(memory, byteSize);
        }

        @Override
        public void unlock(long memory, long byteSize) {
          CudaDriver.instance().unlockPages(memory);
        }
      };

  /** Throws where it cannot; the memory is used all the same. */
  void lock(long memory, long byteSize);

  /** Takes {@link #lock} back. */
  void unlock(long memory, long byteSize);
}
