package io.nereid.model;

import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.StatusCode;
import java.util.Map;
import java.util.Optional;

/** One request of a {@link Batch}. */
public interface BatchRequest {

  /** The id that its sender gave. */
  Optional<String> id();

  /** The parameters that its sender gave. */
  Map<String, Object> parameters();

  /** The sequence that it belongs to; empty: none. */
  Optional<SequenceId> sequence();

  /** True if it is the first of its sequence. */
  boolean isSequenceStart();

  /** True if it is the last of its sequence. */
  boolean isSequenceEnd();

  /**
   * Its first row in the batch's tensors. Those of ragged inputs have no rows: its elements there
   * follow those of the requests before it, as batch inputs tell. Where sequences have rows of
   * their own ({@link SequenceBatching.Direct}), there may be empty ones between those of requests.
   */
  long firstRow();

  /** How many rows are its own; 0 for models without a batch dimension. */
  long rows();

  /** True if its sender has given up; the work may be skipped. */
  boolean isCancelled();

  /** True if it brings this input. What the core makes for the whole batch no request has. */
  boolean hasInput(String name);

  /** Its own input, as it was sent. Read-only. */
  Tensor input(String name);

  /** The shape of its own input, wherever that lies. */
  long[] inputShape(String name);

  /**
   * Where its own input lies on a GPU; empty: {@link #input} reads it. Only for backends with
   * {@link Backend#takesDeviceTensors}. Not to be written to, nor to be read after execute.
   */
  Optional<DeviceMemory> deviceInput(String name);

  /** True if it wants this output; memory for one that it does not want is thrown away. */
  boolean wantsOutput(String name);

  /**
   * True if it wants this output in the memory of a GPU: then {@link #deviceOutput} tells where,
   * and neither a common tensor of the batch nor {@link #output} will do. Only for backends with
   * {@link Backend#takesDeviceTensors}.
   */
  boolean wantsOnDevice(String name);

  /**
   * Where it wants its own output, which has this shape; to be written before execute returns. Once
   * per output.
   *
   * @throws io.nereid.types.NereidException with {@link
   *     io.nereid.types.StatusCode#INVALID_ARGUMENT} when there is less room: see {@link
   *     Batch#fail}
   */
  DeviceMemory deviceOutput(String name, long... shape);

  /** Memory for its own output, when the batch has no common tensor for it. */
  Tensor output(String name, long... shape);

  /** Memory for its own BYTES output, whose encoded size must be said. */
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
   * Where a state lies that its sequence has kept; empty: the sequence begins, and with {@link
   * #initialState}. Only for backends with {@link Backend#keepsStates}. Not to be read after
   * execute, nor to be written to, unless the state is to be written over ({@link
   * SequenceBatching.State#sameBuffer}).
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
   * Has the sequence keep what this request made of a state, a row in memory that is full by now.
   * It may be that of {@link #keptState}, else it is new. Once per state. From here on the memory
   * is the runtime's, until {@link Backend#releaseState} takes it back; if this throws, it is not.
   *
   * @param state its position in {@link SequenceBatching#states}
   */
  void keepState(int state, DeviceMemory memory, long... shape);

  /**
   * For models with {@link SequenceBatching#iterative}: the request is not answered when execute
   * returns, but executed again, behind those that wait already. What was made of its outputs and
   * not sent by {@link #respond} is dropped, its state is kept.
   *
   * @throws io.nereid.types.NereidException with {@link
   *     io.nereid.types.StatusCode#FAILED_PRECONDITION} for other models
   */
  void reschedule();

  /**
   * For decoupled models: sends the outputs that were made here for this request as one response to
   * it. Any number of times, also never; the outputs that are there when execute returns are its
   * last response. Waits while the receiver is several responses behind.
   *
   * <p>The outputs belong to the receiver from now on: their tensors throw {@link
   * IllegalStateException}, and segments taken from them before must not be written to any more.
   *
   * <p>Other threads than that of execute may call this while it waits for them, one at a time for
   * a request.
   *
   * @throws io.nereid.types.NereidException with {@link io.nereid.types.StatusCode#CANCELLED} when
   *     nobody waits for this request's responses any more: more of them are of no use. Thrown on
   *     out of execute it ends all requests of the batch
   */
  void respond();

  /**
   * For decoupled models: sends an error as one response to it, under the rules of {@link
   * #respond}. It is not the end: other responses may follow. Outputs that were made here and not
   * sent are dropped.
   *
   * <p>The receiver gets a response with a {@link io.nereid.InferResponse#failure}. To end the
   * request with an error use {@link Batch#fail}. A step of an ensemble cannot go on behind an
   * error: it fails the ensemble, and this throws as when nobody waits any more.
   *
   * @throws io.nereid.types.NereidException as {@link #respond} does
   */
  void respondError(StatusCode code, String message);
}
