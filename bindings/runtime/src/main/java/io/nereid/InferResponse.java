package io.nereid;

import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATA;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.internal.request.Slot;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The answer to a request. Its outputs are memory of the runtime's pool and are read in place until
 * the response is closed, which gives the memory back; a response that is not closed keeps it.
 */
public final class InferResponse extends TensorOwner implements AutoCloseable {

  private final LoadedModel model;
  private final Slot slot;
  private final long generation;

  InferResponse(LoadedModel model, Slot slot, long generation) {
    this.model = model;
    this.slot = slot;
    this.generation = generation;
  }

  /** The model's name. */
  public String modelName() {
    return model.spec().name();
  }

  /** The version that answered. */
  public long modelVersion() {
    return model.spec().version();
  }

  /** The request's id, when it had one. */
  public Optional<String> id() {
    slot.enter(generation, Slot.RESPONSE);
    try {
      return Optional.ofNullable(slot.requestId());
    } finally {
      slot.exit();
    }
  }

  /** Names of the outputs that are here, in the model's order. */
  public List<String> outputNames() {
    slot.enter(generation, Slot.RESPONSE);
    try {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < model.signature().outputs().size(); i++) {
        if (Memory.readLong(RequestLayout.output(slot.record(), i) + TENSOR_DATA) != 0) {
          names.add(model.signature().outputs().name(i));
        }
      }
      return names;
    } finally {
      slot.exit();
    }
  }

  /** An output by name; {@link StatusCode#NOT_FOUND} when the request did not ask for it. */
  public Tensor output(String name) {
    return output(model.signature().outputIndex(name));
  }

  /** An output by position in the model's specification. */
  public Tensor output(int index) {
    Objects.checkIndex(index, model.signature().outputs().size());
    slot.enter(generation, Slot.RESPONSE);
    try {
      long output = RequestLayout.output(slot.record(), index);
      long data = Memory.readLong(output + TENSOR_DATA);
      if (data == 0) {
        throw new NereidException(
            StatusCode.NOT_FOUND,
            "output '" + model.signature().outputs().name(index) + "' was not requested");
      }
      return new Tensor(
          this,
          DataType.ofCode(Memory.readInt(output + RequestLayout.TENSOR_DATATYPE)),
          RequestLayout.shape(output),
          data,
          Memory.readLong(output + RequestLayout.TENSOR_BYTE_SIZE));
    } finally {
      slot.exit();
    }
  }

  /** Where the time went. */
  public Timings timings() {
    slot.enter(generation, Slot.RESPONSE);
    try {
      long record = slot.record();
      return new Timings(
          Memory.readLong(record + RequestLayout.REQUEST_QUEUE_NS),
          Memory.readLong(record + RequestLayout.REQUEST_COMPUTE_INPUT_NS),
          Memory.readLong(record + RequestLayout.REQUEST_COMPUTE_INFER_NS),
          Memory.readLong(record + RequestLayout.REQUEST_COMPUTE_OUTPUT_NS));
    } finally {
      slot.exit();
    }
  }

  /** Rows of the batch that the request was executed in; 0 when it was not executed. */
  public int executedBatchSize() {
    return readInt(RequestLayout.REQUEST_EXECUTED_BATCH_SIZE);
  }

  /** Whether it was executed on the thread that sent it. */
  public boolean ranInline() {
    return readInt(RequestLayout.REQUEST_RAN_INLINE) != 0;
  }

  /** Whether the answer came from the response cache. */
  public boolean cacheHit() {
    return readInt(RequestLayout.REQUEST_CACHE_HIT) != 0;
  }

  private int readInt(long offset) {
    slot.enter(generation, Slot.RESPONSE);
    try {
      return Memory.readInt(slot.record() + offset);
    } finally {
      slot.exit();
    }
  }

  /**
   * Lets an input of another request of the same runtime refer to the memory of one of the outputs;
   * false when the runtimes differ.
   */
  boolean share(NativeRuntime runtime, Tensor tensor, long input) {
    if (runtime != model.runtime()) {
      return false;
    }
    slot.enter(generation, Slot.RESPONSE);
    try {
      for (int i = 0; i < model.signature().outputs().size(); i++) {
        long output = RequestLayout.output(slot.record(), i);
        long slab = Memory.readLong(output + RequestLayout.TENSOR_SLAB);
        if (slab != 0 && Memory.readLong(output + TENSOR_DATA) == tensor.address()) {
          RuntimeCalls.bufferRetain(slab);
          InputBinder.adopt(input, tensor.address(), slab);
          return true;
        }
      }
      return false;
    } finally {
      slot.exit();
    }
  }

  /** Gives the outputs back. Closing twice does nothing. */
  @Override
  public void close() {
    slot.close(generation, Slot.RESPONSE);
  }

  @Override
  void checkOpen() {
    if (!slot.has(generation, Slot.RESPONSE)) {
      throw Slot.closed(Slot.RESPONSE);
    }
  }

  @Override
  MemorySegment memory() {
    return model.runtime().readOnlyMemory();
  }
}
