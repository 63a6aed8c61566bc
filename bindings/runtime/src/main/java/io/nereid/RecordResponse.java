package io.nereid;

import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATA;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.request.Slot;
import io.nereid.statistics.Timings;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The response that completes a request: it is read out of the request's record. */
final class RecordResponse extends InferResponse {

  private final Slot slot;
  private final long generation;

  RecordResponse(LoadedModel model, Slot slot, long generation) {
    super(model);
    this.slot = slot;
    this.generation = generation;
  }

  @Override
  public Optional<String> id() {
    enter();
    try {
      return Optional.ofNullable(slot.requestId());
    } finally {
      exit();
    }
  }

  @Override
  public boolean isFinal() {
    return true;
  }

  @Override
  public Timings timings() {
    enter();
    try {
      long record = slot.record();
      return new Timings(
          Memory.readLong(record + RequestLayout.REQUEST_QUEUE_NS),
          Memory.readLong(record + RequestLayout.REQUEST_COMPUTE_INPUT_NS),
          Memory.readLong(record + RequestLayout.REQUEST_COMPUTE_INFER_NS),
          Memory.readLong(record + RequestLayout.REQUEST_COMPUTE_OUTPUT_NS));
    } finally {
      exit();
    }
  }

  @Override
  public int executedBatchSize() {
    return readInt(RequestLayout.REQUEST_EXECUTED_BATCH_SIZE);
  }

  @Override
  public boolean ranInline() {
    return readInt(RequestLayout.REQUEST_RAN_INLINE) != 0;
  }

  @Override
  public boolean cacheHit() {
    return readInt(RequestLayout.REQUEST_CACHE_HIT) != 0;
  }

  private int readInt(long offset) {
    enter();
    try {
      return Memory.readInt(slot.record() + offset);
    } finally {
      exit();
    }
  }

  @Override
  public void close() {
    slot.close(generation, Slot.RESPONSE);
  }

  @Override
  protected void checkOpen() {
    if (!slot.has(generation, Slot.RESPONSE)) {
      throw Slot.closed(Slot.RESPONSE);
    }
  }

  @Override
  protected MemorySegment memory() {
    return slot.lend(generation, Slot.RESPONSE, model().runtime().readOnlyMemory());
  }

  @Override
  void enter() {
    slot.enter(generation, Slot.RESPONSE);
  }

  @Override
  void exit() {
    slot.exit();
  }

  @Override
  boolean has(int output) {
    return Memory.readLong(RequestLayout.output(slot.record(), output) + TENSOR_DATA) != 0;
  }

  @Override
  Tensor tensor(int output) {
    return tensorAt(RequestLayout.output(slot.record(), output));
  }

  @Override
  long slab(long data) {
    for (int i = 0; i < model().signature().outputs().size(); i++) {
      long output = RequestLayout.output(slot.record(), i);
      long slab = Memory.readLong(output + RequestLayout.TENSOR_SLAB);
      if (slab != 0 && Memory.readLong(output + TENSOR_DATA) == data) {
        return slab;
      }
    }
    return 0;
  }
}
