package io.nereid.model;

import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.StatusCode;
import java.util.Map;
import java.util.Optional;

/** One request of a {@link Batch}. */
public interface BatchRequest {

  /** The id that the request's sender gave. */
  Optional<String> id();

  /** The parameters that the request's sender gave. */
  Map<String, Object> parameters();

  /** The sequence that the request belongs to; empty: none. */
  Optional<SequenceId> sequence();

  /** True if the request is the first of its sequence. */
  boolean isSequenceStart();

  /** True if the request is the last of its sequence. */
  boolean isSequenceEnd();

  /**
   * The request's first row in the batch's tensors. Ragged inputs have no rows: the request's
   * elements there follow those of the requests before it, as batch inputs tell. If sequences have
   * rows of their own ({@link SequenceBatching.Direct}), there may be empty ones between those of
   * requests.
   */
  long firstRow();

  /** The number of the request's rows; 0 for models without a batch dimension. */
  long rows();

  /** True if the request's sender has given up; its work may be skipped. */
  boolean isCancelled();

  /**
   * True if the request brings this input. No request has the inputs that the core makes for the
   * whole batch.
   */
  boolean hasInput(String name);

  /** The request's own input, as it was sent. The tensor is read-only. */
  Tensor input(String name);

  /** The shape of the request's own input, wherever its memory lies. */
  long[] inputShape(String name);

  /**
   * The memory of a GPU in which the request's own input lies; empty: {@link #input} reads it. This
   * is for backends with {@link Backend#takesDeviceTensors} only. The memory must not be written
   * to, nor read after execute.
   */
  Optional<DeviceMemory> deviceInput(String name);

  /** True if the request wants this output; an output that it does not want is thrown away. */
  boolean wantsOutput(String name);

  /**
   * True if the request wants this output in the memory of a GPU: then the output must be written
   * to {@link #deviceOutput}, not to a common tensor of the batch nor to {@link #output}. This is
   * for backends with {@link Backend#takesDeviceTensors} only.
   */
  boolean wantsOnDevice(String name);

  /**
   * The sender's memory for the request's own output, which has this shape; to be written before
   * execute returns. Called once per output.
   *
   * @throws io.nereid.types.NereidException with {@link
   *     io.nereid.types.StatusCode#INVALID_ARGUMENT} when there is less room: see {@link
   *     Batch#fail}
   */
  DeviceMemory deviceOutput(String name, long... shape);

  /** Memory for the request's own output, when the batch has no common tensor for it. */
  Tensor output(String name, long... shape);

  /** Memory for the request's own BYTES output, whose encoded size is given. */
  Tensor bytesOutput(String name, long byteSize, long... shape);

  /** Copies {@code values} into its own output. */
  default Tensor output(String name, Tensor values) {
    Tensor output =
        values.dataType().isFixedSize()
            ? output(name, values.shape())
            : bytesOutput(name, values.byteSize(), values.shape());
    return output.copyFrom(values);
  }

  /**
   * The memory of a state that the request's sequence has kept; empty: the sequence begins, and
   * with {@link #initialState}. This is for backends with {@link Backend#keepsStates} only. The
   * memory must not be read after execute, nor written to, unless the state is to be written over
   * ({@link SequenceBatching.State#sameBuffer}).
   *
   * @param state its position in {@link SequenceBatching#states}
   */
  Optional<DeviceMemory> keptState(int state);

  /**
   * A state that a sequence begins with, a row in the processor's memory. Read-only.
   *
   * @param state its position in {@link SequenceBatching#states}
   */
  Tensor initialState(int state);

  /**
   * Stores the state that this request made, a completely written row of memory, for its sequence.
   * The memory may be that of {@link #keptState}, or new memory. Called once per state. From here
   * on the memory is the runtime's, until {@link Backend#releaseState} takes it back; if this
   * throws, it is not.
   *
   * @param state its position in {@link SequenceBatching#states}
   */
  void keepState(int state, DeviceMemory memory, long... shape);

  /**
   * Has the request executed again, behind waiting ones, instead of being answered when execute
   * returns; for models with {@link SequenceBatching#iterative}. Outputs that were made and not
   * sent by {@link #respond} are dropped; the request's state is kept.
   *
   * @throws io.nereid.types.NereidException with {@link
   *     io.nereid.types.StatusCode#FAILED_PRECONDITION} for other models
   */
  void reschedule();

  /**
   * Sends the outputs that were made here for this request as one response to it; for decoupled
   * models. A backend may call this any number of times, also never; the outputs that are there
   * when execute returns are the last response. The call waits while the receiver is several
   * responses behind.
   *
   * <p>The outputs belong to the receiver from now on: their tensors throw {@link
   * IllegalStateException}, and segments taken from them before must not be written to any more.
   *
   * <p>Other threads than that of execute may call this while it waits for them, one at a time for
   * a request.
   *
   * @throws io.nereid.types.NereidException with {@link io.nereid.types.StatusCode#CANCELLED} when
   *     nobody waits for this request's responses any more: more of them are of no use. The
   *     exception ends all requests of the batch if execute throws it on
   */
  void respond();

  /**
   * Sends an error as one response to the request, under the rules of {@link #respond}; for
   * decoupled models. Other responses may follow the error. Outputs that were made here and not
   * sent are dropped.
   *
   * <p>The receiver gets a response with a {@link io.nereid.InferResponse#failure}. To end the
   * request with an error use {@link Batch#fail}. An error of an ensemble's step fails the
   * ensemble, and this method throws as if nobody waited any more.
   *
   * @throws io.nereid.types.NereidException as {@link #respond} does
   */
  void respondError(StatusCode code, String message);
}
