package io.nereid;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.statistics.Timings;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An answer to a request. Its outputs are memory of the runtime's pool and are read in place until
 * the response is closed, which gives the memory back; a response that is not closed keeps it.
 *
 * <p>Timings and batch size of a request are known when it ends: they are zero in responses of a
 * {@link ResponseStream} that are not {@linkplain #isFinal final}.
 */
public abstract sealed class InferResponse extends TensorOwner implements AutoCloseable
    permits RecordResponse, StreamedResponse {

  private final LoadedModel model;

  InferResponse(LoadedModel model) {
    this.model = model;
  }

  LoadedModel model() {
    return model;
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
  public abstract Optional<String> id();

  /** Names of the outputs that are here, in the model's order. */
  public List<String> outputNames() {
    enter();
    try {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < model.signature().outputs().size(); i++) {
        if (has(i)) {
          names.add(model.signature().outputs().name(i));
        }
      }
      return names;
    } finally {
      exit();
    }
  }

  /** An output by name; {@link StatusCode#NOT_FOUND} when the request did not ask for it. */
  public Tensor output(String name) {
    return output(model.signature().outputIndex(name));
  }

  /** An output by position in the model's specification. */
  public Tensor output(int index) {
    Objects.checkIndex(index, model.signature().outputs().size());
    enter();
    try {
      if (!has(index)) {
        throw new NereidException(
            StatusCode.NOT_FOUND,
            "output '" + model.signature().outputs().name(index) + "' was not requested");
      }
      return tensor(index);
    } finally {
      exit();
    }
  }

  /**
   * Whether the request is over, so that this is its last response. One that is not final can still
   * be the last that comes: then {@link ResponseStream#next} returns null or throws.
   */
  public abstract boolean isFinal();

  /** Where the time went. */
  public abstract Timings timings();

  /** Rows of the batch that the request was executed in; 0 when it was not executed. */
  public abstract int executedBatchSize();

  /** Whether it was executed on the thread that sent it. */
  public abstract boolean ranInline();

  /** Whether the answer came from the response cache. */
  public abstract boolean cacheHit();

  /**
   * Lets an input of another request of the same runtime refer to the memory of one of the outputs;
   * false when the runtimes differ.
   */
  boolean share(NativeRuntime runtime, long address, long input) {
    if (runtime != model.runtime()) {
      return false;
    }
    enter();
    try {
      long slab = slab(address);
      if (slab == 0) {
        return false;
      }
      RuntimeCalls.bufferRetain(slab);
      InputBinder.adopt(input, address, slab);
      return true;
    } finally {
      exit();
    }
  }

  /** A tensor of this response that is described by an {@code nrd_tensor}. */
  final Tensor tensorAt(long description) {
    int flags = Memory.readInt(description + RequestLayout.TENSOR_FLAGS);
    return tensor(
        DataType.ofCode(Memory.readInt(description + RequestLayout.TENSOR_DATATYPE)),
        RequestLayout.shape(description),
        Memory.readLong(description + RequestLayout.TENSOR_DATA),
        Memory.readLong(description + RequestLayout.TENSOR_BYTE_SIZE),
        (flags & RequestLayout.TENSOR_DEVICE) != 0);
  }

  /** Gives the outputs back. Closing twice does nothing. */
  @Override
  public abstract void close();

  // ---- What the kinds of responses differ in; between enter and exit ---------------------------

  /** Keeps what it owns from being given back until {@link #exit}; throws when it was closed. */
  abstract void enter();

  abstract void exit();

  abstract boolean has(int output);

  /** An output that is there. */
  abstract Tensor tensor(int output);

  /** The buffer of the output whose data is at this address; 0: none of its own. */
  abstract long slab(long data);
}
