package io.nereid.internal.backend;

import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;

/** The outputs of a decoupled request's next response, until that is sent to its receiver. */
final class ResponseDraft extends TensorOwner {

  private final JavaBatch batch;
  private volatile boolean sent;

  ResponseDraft(JavaBatch batch) {
    this.batch = batch;
  }

  Tensor output(DataType type, long[] shape, long address, long byteSize) {
    return tensor(type, shape, address, byteSize);
  }

  /** Passes the outputs to the receiver. */
  void sent() {
    sent = true;
  }

  @Override
  protected void checkOpen() {
    batch.checkOpen();
    if (sent) {
      throw new IllegalStateException("the output was sent with its response");
    }
  }

  @Override
  protected MemorySegment memory() {
    return batch.memory();
  }
}
