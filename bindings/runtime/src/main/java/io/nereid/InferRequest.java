package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.internal.request.RequestContent;
import io.nereid.internal.request.RequestFuture;
import io.nereid.internal.request.SequenceMove;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.Slot;
import io.nereid.internal.request.StreamQueue;
import io.nereid.internal.request.StreamedResponse;
import io.nereid.model.SequenceId;
import io.nereid.model.TensorSpec;
import io.nereid.model.TracedActivity;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One request to a model, sent once with {@link #infer}, {@link #inferAsync}, {@link #submit} or
 * {@link #inferStream}. It is filled in by one thread at a time; {@link #cancel} and {@link #close}
 * may come from any.
 *
 * <p>The method that is given a wrong input or setting throws. A method that throws and returns the
 * request closes the request first, since {@code try (var request = model.newRequest().input(...))}
 * has no request to close when {@code input} throws.
 *
 * <p>Closing gives the inputs' memory back. It neither cancels a request that is under way nor
 * touches its response: the two may be closed in any order.
 */
public final class InferRequest extends TensorOwner implements AutoCloseable {

  private final Slot slot;
  private final long generation;

  /** Makes a request of a slot that was just taken from its pool. */
  InferRequest(Slot slot) {
    this.slot = slot;
    this.generation = slot.generation();
  }

  private Signature signature() {
    return slot.pool().signature();
  }

  // ---- Inputs and outputs ----------------------------------------------------------------------

  /**
   * Gives an input. Memory of the runtime's pool is passed on without a copy when it is a
   * response's output, and so is native memory that cannot go away: that of the global arena and of
   * automatic arenas; do not change it before the response is there. Everything else (arrays,
   * memory of arenas that can be closed) is copied once, now, into the pool.
   */
  public InferRequest input(String name, Tensor tensor) {
    slot.beginEdit(generation);
    try {
      input(slot.content(), name, tensor);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  private void input(RequestContent content, String name, Tensor tensor) {
    Checks.notNull(tensor, "tensor");
    int index = signature().inputIndex(name);
    TensorRecord input =
        content.describe(index, tensor.dataType(), shapeOf(tensor), tensor.byteSize());
    if (!share(tensor, input)) {
      content.bind(index, input, tensor, ownerOf(tensor) == null);
    }
    content.given(index);
  }

  /** Changes the request, which no other thread may do meanwhile; a failure closes it. */
  private InferRequest edit(Consumer<RequestContent> change) {
    slot.beginEdit(generation);
    try {
      change.accept(slot.content());
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /** Lets an input refer to the output of a response, where the tensor is one. */
  private boolean share(Tensor tensor, TensorRecord input) {
    TensorOwner owner = ownerOf(tensor);
    if (owner instanceof InferResponse response) {
      return response.share(slot.pool(), addressOf(tensor), input);
    }
    return owner instanceof StreamedResponse it && it.share(slot.pool(), addressOf(tensor), input);
  }

  /**
   * Returns memory from the runtime's pool for an input, which saves a copy. Fill it in before the
   * request is sent, not after, because outputs may refer to it. When the pool is exhausted, waits
   * until the request's deadline if one was set before, and else fails at once with {@link
   * StatusCode#RESOURCE_EXHAUSTED}.
   */
  public Tensor allocateInput(String name, long... shape) {
    Checks.notNull(shape, "shape");
    TensorSpec spec = signature().input(signature().inputIndex(name));
    if (!spec.dataType().isFixedSize()) {
      throw new IllegalStateException(
          "input '" + name + "' is of BYTES: use allocateBytesInput, or give a tensor");
    }
    return allocate(
        name, Signature.byteSize("input '" + name + "'", spec.dataType(), shape), shape);
  }

  /** Does what {@link #allocateInput} does for BYTES, whose encoded size the caller gives. */
  public Tensor allocateBytesInput(String name, long byteSize, long... shape) {
    Checks.notNegative(byteSize, "byteSize");
    Checks.notNull(shape, "shape");
    return allocate(name, byteSize, shape);
  }

  /**
   * True if {@link #deviceInput} is possible for memory of this GPU: all instances of the model run
   * there, and their backend reads inputs where they lie.
   */
  public boolean takesDeviceInputs(int device) {
    return slot.pool().tensorDevice() == device;
  }

  /**
   * Gives an input that lies on a GPU, for a model that {@linkplain #takesDeviceInputs takes} them
   * from there. The memory is read while the model executes, which may be after this request was
   * given up or answered with an error.
   *
   * @param release called once, from any thread, when nobody reads the memory any more; it must
   *     neither throw nor wait. It is not called when this method throws
   */
  public InferRequest deviceInput(
      String name, DeviceMemory memory, Runnable release, long... shape) {
    return edit(content -> content.deviceInput(name, memory, release, shape));
  }

  /**
   * True if {@link #deviceOutput} is possible for this output and memory of this GPU: all instances
   * of the model run there, and their backend writes outputs where they are wanted.
   */
  public boolean takesDeviceOutput(String name, int device) {
    DataType type = signature().output(signature().outputIndex(name)).dataType();
    return takesDeviceInputs(device) && type.isFixedSize() && !signature().spec().decoupled();
  }

  /**
   * Asks for an output, also one that {@link #output} has asked for, to be written into the memory
   * of a GPU; {@link #takesDeviceOutput} tells whether the model can. The response tells the
   * output's datatype and shape, and has no memory for it. The memory may be written to while the
   * model executes, also after this request was given up.
   *
   * @param memory may be larger than the output; less fails the request with {@link
   *     StatusCode#INVALID_ARGUMENT}
   * @param release as of {@link #deviceInput}: called when nobody writes to the memory any more
   */
  public InferRequest deviceOutput(String name, DeviceMemory memory, Runnable release) {
    return edit(content -> content.deviceOutput(name, memory, release));
  }

  private Tensor allocate(String name, long byteSize, long[] shape) {
    int index = signature().inputIndex(name);
    DataType type = signature().input(index).dataType();
    slot.beginEdit(generation);
    try {
      return tensor(type, shape, slot.content().place(index, type, shape, byteSize), byteSize);
    } finally {
      slot.endEdit();
    }
  }

  /** Asks for an output; a request that asks for none gets all. */
  public InferRequest output(String name) {
    return edit(content -> content.output(signature().outputIndex(name)));
  }

  /**
   * The inputs that were given so far, by name in the model's order. The thread that fills in the
   * request may call this until it sends the request.
   */
  public Map<String, Tensor> inputs() {
    slot.beginEdit(generation);
    try {
      Map<String, Tensor> inputs = new LinkedHashMap<>();
      for (int i = 0; i < slot.record().inputCount(); i++) {
        TensorRecord input = slot.record().input(i);
        if (input.isSelected()) {
          DataType type = input.dataType();
          inputs.put(
              signature().input(i).name(),
              tensor(type, input.shape(), input.data(), input.byteSize(), input.isOnDevice()));
        }
      }
      return inputs;
    } finally {
      slot.endEdit();
    }
  }

  // ---- Settings --------------------------------------------------------------------------------

  /** Names the request; the response repeats it. */
  public InferRequest id(String id) {
    return edit(content -> content.id(Checks.notNull(id, "id")));
  }

  /** Limits the time from now until the answer; after it, {@link StatusCode#DEADLINE_EXCEEDED}. */
  public InferRequest deadline(Duration fromNow) {
    return edit(
        content -> content.deadlineNs(Checks.deadlineNs(Checks.notNegative(fromNow, "deadline"))));
  }

  /** Limits the wait for the request's turn, as far as the model's queue policy lets it. */
  public InferRequest timeout(Duration inQueue) {
    return edit(
        content -> slot.record().timeoutNs(Checks.nanos(Checks.notNegative(inQueue, "timeout"))));
  }

  /** Sets the priority: 1 is the most urgent; 0, and levels the model lacks, mean its default. */
  public InferRequest priority(int level) {
    return edit(content -> {
      Checks.notNegative(level, "priority");
      slot.record().priority(level);
    });
  }

  /** Makes it part of a sequence; {@link Model.Sequence} does so for all of its requests. */
  public InferRequest sequence(SequenceId id) {
    return sequence(Checks.notNull(id, "id"), null);
  }

  InferRequest sequence(SequenceId id, AtomicBoolean startDue) {
    return edit(content -> content.sequence(id, startDue));
  }

  /** True if the request is the first of its sequence; a sequence that runs already begins anew. */
  public InferRequest sequenceStart(boolean first) {
    return edit(content -> slot.record().mark(RequestRecord.SEQUENCE_START, first));
  }

  /** True if this is the last request of its sequence. */
  public InferRequest sequenceEnd(boolean last) {
    return edit(content -> slot.record().mark(RequestRecord.SEQUENCE_END, last));
  }

  /** A parameter for the backend: a boolean, an integer, a string, or a floating-point number. */
  public InferRequest parameter(String key, Object value) {
    return edit(content -> content.parameter(key, value));
  }

  /**
   * Lets a listener hear, on any thread and without waiting, what a plug-in tells of the request
   * and of the inferences that the plug-in begins for it, until the request is answered.
   */
  public InferRequest trace(Consumer<TracedActivity> listener) {
    return edit(content -> content.tracer(Checks.notNull(listener, "listener")));
  }

  // ---- Running it ------------------------------------------------------------------------------

  /**
   * Sends the request and waits for the response. Made for virtual threads, good on any.
   *
   * <p>When the thread is interrupted while it waits, the request is cancelled and {@link
   * StatusCode#CANCELLED} thrown; the thread stays interrupted. When a deadline passes while the
   * model executes the request, the caller is told at once and the result is thrown away.
   *
   * <p>Requests to decoupled models have no single response: {@link StatusCode#UNIMPLEMENTED}.
   */
  public InferResponse infer() {
    return infer(() -> {});
  }

  /** Does the same as {@link #infer()}; runs {@code beforeWait} first if it has to wait. */
  public InferResponse infer(Runnable beforeWait) {
    Checks.notNull(beforeWait, "beforeWait");
    signature().checkSingleResponse();
    InferRequest sent = routed();
    if (!sent.slot.submit(sent.generation, null, null, true)) {
      beforeWait.run();
      sent.slot.pool().await(sent.slot);
    }
    return sent.response();
  }

  /** Returns this request, or its replacement if the sequence runs at another load of the model. */
  private InferRequest routed() {
    Slot at = slot.content().isOfSequence() ? SequenceMove.prepare(slot, generation) : slot;
    return at == slot ? this : new InferRequest(at);
  }

  /** The response of a record that the core gave back; an exception when the request failed. */
  private InferResponse response() {
    slot.toResponse();
    return new InferResponse(slot, generation);
  }

  /**
   * Sends the request; the future completes with the response, which its receiver closes. Code that
   * depends on the future runs on a virtual thread of its own. Cancelling the future cancels the
   * request. Like {@link #infer}, this is not for decoupled models.
   */
  public CompletableFuture<InferResponse> inferAsync() {
    signature().checkSingleResponse();
    InferRequest sent = routed();
    RequestFuture<InferResponse> future =
        new RequestFuture<>(sent.slot, sent.generation, InferResponse::new);
    future.submit();
    return future;
  }

  /**
   * Sends the request and returns; the listener gets the answer on whichever thread completes it,
   * possibly this one, before this returns. The method is for frontends that have threads of their
   * own: unlike with {@link #inferAsync}, there is no thread in between. The method throws if the
   * request itself is wrong, and the listener hears nothing then.
   *
   * <p>A deadline bounds the time in the queue only: {@link #cancel} gives up on a request that
   * executes. Like {@link #infer}, this is not for decoupled models.
   *
   * @param inline whether the request may execute on this thread when the model is idle
   */
  public void submit(ResponseListener listener, boolean inline) {
    Checks.notNull(listener, "listener");
    signature().checkSingleResponse();
    InferRequest sent = routed();
    Runnable completion = () -> sent.answer(listener);
    if (sent.slot.submit(sent.generation, completion, null, inline)) {
      completion.run();
    }
  }

  /** Tells the listener, on the completing thread, after the core gave the record back. */
  private void answer(ResponseListener listener) {
    InferResponse response;
    try {
      response = response();
    } catch (NereidException e) {
      listener.onFailure(e);
      return;
    }
    listener.onResponse(response);
  }

  /**
   * Sends the request; the stream has its responses, and must be closed. Every model can be asked
   * this way: one that is not decoupled sends one response. The method throws if the request itself
   * is wrong; later failures come from the stream.
   */
  public ResponseStream inferStream() {
    InferRequest sent = routed();
    StreamQueue queue = new StreamQueue(sent.slot, sent.generation);
    queue.submit();
    return new ResponseStream(queue);
  }

  /**
   * Gives up on the request. True when it will never execute: its receiver gets {@link
   * StatusCode#CANCELLED}. False when its turn has come (a backend may notice and stop early, and
   * the answer may be either), when it is done, or closed.
   */
  public boolean cancel() {
    return slot.cancel(generation, Slot.REQUEST);
  }

  /** Gives the inputs back. Closing twice does nothing. */
  @Override
  public void close() {
    slot.close(generation, Slot.REQUEST);
  }

  @Override
  protected void checkOpen() {
    slot.check(generation, Slot.REQUEST);
  }

  @Override
  protected MemorySegment memory() {
    return slot.lend(generation, Slot.REQUEST, slot.pool().memory().writable());
  }
}
