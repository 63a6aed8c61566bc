package io.nereid;

import java.lang.foreign.MemorySegment;

/** The outputs of a decoupled request's next response, until that is sent. */
final class ResponseDraft extends TensorOwner {

  private final JavaBatch batch;
  private volatile boolean sent;

  ResponseDraft(JavaBatch batch) {
    this.batch = batch;
  }

  /** From now on its memory is the receiver's. */
  void send() {
    sent = true;
  }

  @Override
  void checkOpen() {
    batch.checkOpen();
    if (sent) {
      throw new IllegalStateException("the output was sent with its response");
    }
  }

  @Override
  MemorySegment memory() {
    return batch.memory();
  }
}
