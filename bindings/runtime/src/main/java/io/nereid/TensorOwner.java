package io.nereid;

import java.lang.foreign.MemorySegment;

/** Whose memory a tensor lies in; the tensor can be read as long as its owner is open. */
abstract sealed class TensorOwner
    permits DeviceOwner, InferRequest, InferResponse, JavaBatch, ResponseDraft {

  TensorOwner() {}

  /** Throws when the owner was closed. */
  abstract void checkOpen();

  /** The memory of which its tensors are parts, by address, with the rights that it gives. */
  abstract MemorySegment memory();
}
