package io.nereid.tensor;

import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;

/**
 * Lends the memory that tensors lie in, such as a request or a response does. The owner makes its
 * tensors, and any thread can read them as long as the owner is open. Only Nereid's own classes
 * extend it.
 */
public abstract class TensorOwner {

  /** The owner of tensors in the memory of a GPU, which only have type and shape. */
  static final TensorOwner DEVICE =
      new TensorOwner() {
        @Override
        protected void checkOpen() {}

        @Override
        protected MemorySegment memory() {
          throw new IllegalStateException(
              "the tensor is on a GPU, where its request has it or wanted it");
        }
      };

  /** Makes an owner of tensors. */
  protected TensorOwner() {}

  /** Throws if this owner was closed. Its tensors call this before each access. */
  protected abstract void checkOpen();

  /** The memory that contains its tensors, by address, writable or read-only. */
  protected abstract MemorySegment memory();

  /** A tensor in this owner's memory; takes {@code shape} as its own. */
  protected final Tensor tensor(DataType dataType, long[] shape, long address, long byteSize) {
    return new Tensor(this, dataType, shape, address, byteSize);
  }

  /**
   * Makes a tensor that may be on a GPU: then it has no owner from whose memory it could be read.
   */
  protected final Tensor tensor(
      DataType dataType, long[] shape, long address, long byteSize, boolean onDevice) {
    return new Tensor(onDevice ? DEVICE : this, dataType, shape, address, byteSize);
  }

  /** A tensor over memory that this owner only lends; takes {@code shape} as its own. */
  protected final Tensor tensor(DataType dataType, long[] shape, MemorySegment segment) {
    return new Tensor(this, dataType, shape, segment);
  }

  /** The owner that lends the memory of a tensor; null when it is the caller's. */
  protected static TensorOwner ownerOf(Tensor tensor) {
    return tensor.owner();
  }

  /** Returns the address of a tensor in its owner's memory; 0: it is not there. */
  protected static long addressOf(Tensor tensor) {
    return tensor.address();
  }

  /** The shape of a tensor itself, which must not be changed. */
  protected static long[] shapeOf(Tensor tensor) {
    return tensor.rawShape();
  }
}
