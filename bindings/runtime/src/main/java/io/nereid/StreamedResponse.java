package io.nereid;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.LentMemory;
import io.nereid.internal.request.Origin;
import io.nereid.internal.request.Revocable;
import io.nereid.internal.request.Slot;
import io.nereid.statistics.Timings;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A response before the last of a request. The record goes on to the next one, so this owns its
 * buffers itself. It belongs to its stream until {@link #deliver}, then to the user.
 */
final class StreamedResponse extends InferResponse implements Revocable {

  private static final Timings UNKNOWN = new Timings(0, 0, 0, 0);

  private final Optional<String> id;
  private final Origin origin;
  private final Tensor[] tensors; // null: not there
  private final long[] slabs;

  /** Held while the buffers are used or given back. */
  private final ReentrantLock lock = new ReentrantLock();

  private final LentMemory lent = Diagnostics.CHECKED ? new LentMemory() : null;

  private volatile boolean closed;

  /**
   * A response to the slot's request, of {@code count} tensors at address {@code outputs}, which
   * keep their buffers for the time being: see {@link #takeBuffers}.
   */
  StreamedResponse(LoadedModel model, Slot slot, long outputs, int count) {
    super(model);
    id = Optional.ofNullable(slot.requestId());
    origin = slot.origin();
    tensors = new Tensor[count];
    slabs = new long[count];
    for (int i = 0; i < count; i++) {
      long output = outputs + i * RequestLayout.TENSOR_SIZE;
      if (Memory.readLong(output + RequestLayout.TENSOR_DATA) != 0) {
        tensors[i] = tensorAt(output);
        slabs[i] = Memory.readLong(output + RequestLayout.TENSOR_SLAB);
      }
    }
  }

  /** From now on the buffers belong to this, no longer to the tensors it was made of. */
  void takeBuffers(long outputs) {
    for (int i = 0; i < slabs.length; i++) {
      Memory.writeLong(outputs + i * RequestLayout.TENSOR_SIZE + RequestLayout.TENSOR_SLAB, 0);
    }
  }

  /** From now on it is an open handle of the user's. While the request's slot is held. */
  void deliver() {
    model().slots().add(this);
  }

  /** Gives the buffers back; false when that was done before. */
  boolean release() {
    lock.lock();
    try {
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
    } finally {
      lock.unlock();
    }
  }

  private void releaseBuffers() {
    for (long slab : slabs) {
      if (slab != 0) {
        RuntimeCalls.bufferRelease(slab);
      }
    }
  }

  @Override
  public void close() {
    if (release()) {
      model().slots().remove(this);
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

  @Override
  public Optional<String> id() {
    checkOpen();
    return id;
  }

  @Override
  public boolean isFinal() {
    return false;
  }

  @Override
  public Timings timings() {
    checkOpen();
    return UNKNOWN;
  }

  @Override
  public int executedBatchSize() {
    checkOpen();
    return 0;
  }

  @Override
  public boolean ranInline() {
    checkOpen();
    return false;
  }

  @Override
  public boolean cacheHit() {
    checkOpen();
    return false;
  }

  @Override
  protected void checkOpen() {
    if (closed) {
      throw Slot.closed(Slot.RESPONSE);
    }
  }

  @Override
  protected MemorySegment memory() {
    MemorySegment memory = model().runtime().readOnlyMemory();
    return Diagnostics.CHECKED ? lent.as(memory) : memory;
  }

  @Override
  void enter() {
    lock.lock();
    if (closed) {
      lock.unlock();
      throw Slot.closed(Slot.RESPONSE);
    }
  }

  @Override
  void exit() {
    lock.unlock();
  }

  @Override
  boolean has(int output) {
    return tensors[output] != null;
  }

  @Override
  Tensor tensor(int output) {
    return tensors[output];
  }

  @Override
  long slab(long data) {
    for (int i = 0; i < slabs.length; i++) {
      if (slabs[i] != 0 && addressOf(tensors[i]) == data) {
        return slabs[i];
      }
    }
    return 0;
  }
}
