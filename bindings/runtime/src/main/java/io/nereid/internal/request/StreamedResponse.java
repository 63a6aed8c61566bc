package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestUpcalls.Outputs;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.internal.request.Diagnostics.Origin;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * A response before the last of a request. The record is used for the next response, so this one
 * owns its buffers. It belongs to its stream until {@link #deliver}, then to the user, whose
 * threads may all call it.
 */
public final class StreamedResponse extends TensorOwner implements SlotPool.OpenResponse {

  private final SlotPool pool;
  private final String id;
  private final Origin origin;
  private final Tensor[] tensors; // null: not there
  private final long[] buffers;
  private final Map<String, Object> parameters;
  private final NereidException failure; // null: the response has outputs

  private final LentMemory lent = Diagnostics.CHECKED ? new LentMemory() : null;

  private volatile boolean closed;

  /**
   * A response with these outputs to the slot's request. The outputs keep their buffers until
   * {@link #takeBuffers}.
   */
  StreamedResponse(Slot slot, Outputs outputs) {
    pool = slot.pool();
    id = slot.content().id();
    origin = slot.origin;
    int status = slot.record().status();
    boolean failed = outputs.count() == 0 && status != StatusCode.OK.number();
    failure = failed ? slot.record().failure(status) : null;
    parameters = values(slot);
    tensors = new Tensor[pool.signature().outputs().size()];
    buffers = new long[outputs.count()];
    for (int i = 0; i < buffers.length; i++) {
      TensorRecord output = outputs.get(i);
      if (output.isThere()) {
        tensors[i] =
            tensor(
                output.dataType(),
                output.shape(),
                output.data(),
                output.byteSize(),
                output.isOnDevice());
        buffers[i] = output.buffer();
      }
    }
  }

  /** The values of a response to the slot's request, besides outputs. */
  public static Map<String, Object> values(Slot slot) {
    Signature signature = slot.pool().signature();
    return signature.responseValues(slot.record(), slot.content().sequence());
  }

  /** Moves the buffers from the outputs to this response. */
  void takeBuffers(Outputs outputs) {
    for (int i = 0; i < buffers.length; i++) {
      outputs.get(i).takeBuffer();
    }
  }

  /** Makes this an open handle of the user's. Called while the request's slot is held. */
  void deliver() {
    pool.add(this);
  }

  /** Gives the buffers back; false if they were given back before. */
  synchronized boolean release() {
    if (closed) {
      return false;
    }
    closed = true;
    try {
      if (Diagnostics.CHECKED) {
        lent.takeBack();
      }
    } finally {
      releaseBuffers();
    }
    return true;
  }

  private void releaseBuffers() {
    for (long buffer : buffers) {
      if (buffer != 0) {
        TensorRecord.release(buffer);
      }
    }
  }

  /** Gives the outputs back. Closing twice does nothing. */
  public void close() {
    if (release()) {
      pool.remove(this);
    }
  }

  @Override
  public void revoke() {
    close();
  }

  @Override
  public Origin origin() {
    return origin;
  }

  /** The requests to the same load of the model. */
  public SlotPool pool() {
    return pool;
  }

  /** The user's id of the request, or null. */
  public String id() {
    return id;
  }

  /** The values that the backend sent with the response, besides outputs. */
  public Map<String, Object> parameters() {
    return parameters;
  }

  /** The error that the backend sent in place of outputs, or null. */
  public NereidException failure() {
    return failure;
  }

  /** Throws if the response was closed. */
  @Override
  public void checkOpen() {
    if (closed) {
      throw Slot.closed(Slot.RESPONSE);
    }
  }

  @Override
  protected MemorySegment memory() {
    MemorySegment memory = pool.memory().readOnly();
    return Diagnostics.CHECKED ? lent.as(memory) : memory;
  }

  /** Output {@code index} of the model; null: it is not there. */
  public Tensor output(int index) {
    checkOpen();
    return tensors[index];
  }

  /**
   * Lets an input of a request refer to the output that is at this address; false if this response
   * owns none there, or the request goes to another runtime.
   */
  public synchronized boolean share(SlotPool to, long data, TensorRecord input) {
    if (to.memory() != pool.memory()) {
      return false;
    }
    checkOpen();
    for (int i = 0; i < buffers.length; i++) {
      if (buffers[i] != 0 && addressOf(tensors[i]) == data) {
        input.share(buffers[i], data);
        return true;
      }
    }
    return false;
  }
}
