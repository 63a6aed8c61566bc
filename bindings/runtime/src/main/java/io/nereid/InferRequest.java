package io.nereid;

import static io.nereid.internal.ffi.RequestLayout.TENSOR_BYTE_SIZE;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATA;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATATYPE;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_FLAGS;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_RANK;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_SELECTED;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_SHAPE;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.request.ResponseReceiver;
import io.nereid.internal.request.Slot;
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

/**
 * One request to a model, sent once with {@link #infer}, {@link #inferAsync}, {@link #submit} or
 * {@link #inferStream}. It is filled in by one thread at a time; {@link #cancel} and {@link #close}
 * may come from any.
 *
 * <p>What is wrong with an input or a setting is thrown by the method that is given it. Those that
 * return the request close it then, since {@code try (var request = model.newRequest().input(...))}
 * has no request to close when {@code input} throws.
 *
 * <p>Closing gives the inputs' memory back. It neither cancels a request that is under way nor
 * touches its response: close in whatever order suits.
 */
public final class InferRequest extends TensorOwner implements AutoCloseable {

  private final LoadedModel model;
  private final Slot slot;
  private final long generation;

  InferRequest(LoadedModel model, Slot slot) {
    this.model = model;
    this.slot = slot;
    this.generation = slot.generation();
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
      Checks.notNull(tensor, "tensor");
      int index = model.signature().inputIndex(name);
      long input = describe(index, name, tensor.dataType(), shapeOf(tensor), tensor.byteSize());
      if (!share(tensor, input)) {
        InputBinder.bind(model, slot, index, input, tensor, ownerOf(tensor) == null);
      }
      countInput(index);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /** Lets an input refer to the output of a response, where the tensor is one. */
  private boolean share(Tensor tensor, long input) {
    return ownerOf(tensor) instanceof InferResponse response
        && response.share(model.runtime(), addressOf(tensor), input);
  }

  /**
   * Memory from the runtime's pool for an input, to be filled in before the request is sent and not
   * after, because outputs may refer to it; the way in without a copy. When the pool is exhausted,
   * waits until the request's deadline if one was set before, and else fails at once with {@link
   * StatusCode#RESOURCE_EXHAUSTED}.
   */
  public Tensor allocateInput(String name, long... shape) {
    Checks.notNull(shape, "shape");
    TensorSpec spec = model.signature().input(model.signature().inputIndex(name));
    if (!spec.dataType().isFixedSize()) {
      throw new IllegalStateException(
          "input '" + name + "' is of BYTES: use allocateBytesInput, or give a tensor");
    }
    return allocate(
        name, Signature.byteSize("input '" + name + "'", spec.dataType(), shape), shape);
  }

  /** As {@link #allocateInput} for an input of BYTES, whose encoded size must be said. */
  public Tensor allocateBytesInput(String name, long byteSize, long... shape) {
    Checks.notNegative(byteSize, "byteSize");
    Checks.notNull(shape, "shape");
    return allocate(name, byteSize, shape);
  }

  /**
   * Whether {@link #deviceInput} is possible for memory of this GPU: all instances of the model run
   * there, and their backend reads inputs where they lie.
   */
  public boolean takesDeviceInputs(int device) {
    return model.tensorDevice() == device;
  }

  /**
   * Gives an input that lies on a GPU, for a model that {@link #takesDeviceInputs} from there. It
   * is read while the model executes, which may be after this request was given up or answered with
   * an error.
   *
   * @param release called once, from any thread, when nobody reads the memory any more; it must
   *     throw nothing, nor wait. Not called when this throws
   */
  public InferRequest deviceInput(
      String name, DeviceMemory memory, Runnable release, long... shape) {
    slot.beginEdit(generation);
    try {
      Checks.notNull(memory, "memory");
      Checks.notNull(release, "release");
      Checks.notNull(shape, "shape");
      int index = model.signature().inputIndex(name);
      DataType type = model.signature().input(index).dataType();
      long input = describe(index, name, type, shape, memory.byteSize());
      Memory.writeLong(input + RequestLayout.TENSOR_DATA, memory.address());
      Memory.writeInt(input + RequestLayout.TENSOR_DEVICE_NUMBER, memory.device());
      Memory.writeInt(input + TENSOR_FLAGS, TENSOR_SELECTED | RequestLayout.TENSOR_DEVICE);
      slot.afterwards(release);
      countInput(index);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /**
   * Whether {@link #deviceOutput} is possible for this output and memory of this GPU: all instances
   * of the model run there, and their backend writes outputs where they are wanted.
   */
  public boolean takesDeviceOutput(String name, int device) {
    DataType type = model.signature().output(model.signature().outputIndex(name)).dataType();
    return model.tensorDevice() == device && type.isFixedSize() && !model.spec().decoupled();
  }

  /**
   * Asks for an output, as {@link #output} does, or has done, to be written into the memory of a
   * GPU, for a model that {@link #takesDeviceOutput} there. The response tells its datatype and
   * shape, and has no memory for it. It may be written to while the model executes, also after this
   * request was given up.
   *
   * @param memory may be larger than the output; less fails the request with {@link
   *     StatusCode#INVALID_ARGUMENT}
   * @param release as of {@link #deviceInput}: called when nobody writes to the memory any more
   */
  public InferRequest deviceOutput(String name, DeviceMemory memory, Runnable release) {
    slot.beginEdit(generation);
    try {
      Checks.notNull(memory, "memory");
      Checks.notNull(release, "release");
      int index = model.signature().outputIndex(name);
      long output = RequestLayout.output(slot.record(), index);
      if ((Memory.readInt(output + TENSOR_FLAGS) & RequestLayout.TENSOR_DEVICE) != 0) {
        throw Signature.invalid("output '" + name + "' already exists in request");
      }
      Memory.writeInt(output + RequestLayout.TENSOR_DEVICE_NUMBER, memory.device());
      Memory.writeLong(output + RequestLayout.TARGET_ADDRESS, memory.address());
      Memory.writeLong(output + RequestLayout.TARGET_BYTES, memory.byteSize());
      Memory.writeInt(output + TENSOR_FLAGS, TENSOR_SELECTED | RequestLayout.TENSOR_DEVICE);
      slot.afterwards(release);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  private Tensor allocate(String name, long byteSize, long[] shape) {
    slot.beginEdit(generation);
    try {
      int index = model.signature().inputIndex(name);
      DataType type = model.signature().input(index).dataType();
      long input = describe(index, name, type, shape, byteSize);
      InputBinder.allocate(model, slot, index, byteSize);
      countInput(index);
      return tensor(type, shape, Memory.readLong(input + TENSOR_DATA), byteSize);
    } finally {
      slot.endEdit();
    }
  }

  /** Writes what an input is, without its memory; returns its address. */
  private long describe(int index, String name, DataType type, long[] shape, long byteSize) {
    long input = RequestLayout.input(slot.record(), index);
    if ((Memory.readInt(input + TENSOR_FLAGS) & TENSOR_SELECTED) != 0) {
      throw Signature.invalid("input '" + name + "' already exists in request");
    }
    if (shape.length > RequestLayout.MAX_RANK) {
      Signature.checkRank("input '" + name + "' for model '" + model.spec().name() + "'", shape);
    }
    Memory.writeLong(input + TENSOR_BYTE_SIZE, byteSize);
    Memory.writeInt(input + TENSOR_DATATYPE, type.code());
    Memory.writeInt(input + TENSOR_RANK, shape.length);
    for (int i = 0; i < shape.length; i++) {
      Memory.writeLong(input + TENSOR_SHAPE + (long) i * Long.BYTES, shape[i]);
    }
    return input;
  }

  private void countInput(int index) {
    if (!model.signature().input(index).optional()) {
      slot.addRequiredInput();
    }
  }

  /** Asks for an output; a request that asks for none gets all. */
  public InferRequest output(String name) {
    slot.beginEdit(generation);
    try {
      int index = model.signature().outputIndex(name);
      long flagsAt = RequestLayout.output(slot.record(), index) + TENSOR_FLAGS;
      int flags = Memory.readInt(flagsAt);
      if ((flags & TENSOR_SELECTED) != 0) {
        throw Signature.invalid("output '" + name + "' already exists in request");
      }
      Memory.writeInt(flagsAt, flags | TENSOR_SELECTED);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /**
   * What inputs were given so far, by name in the model's order: to be read, before the request is
   * sent, by the thread that fills it in.
   */
  public Map<String, Tensor> inputs() {
    slot.beginEdit(generation);
    try {
      Map<String, Tensor> inputs = new LinkedHashMap<>();
      for (int i = 0; i < model.spec().inputs().size(); i++) {
        long input = RequestLayout.input(slot.record(), i);
        if ((Memory.readInt(input + TENSOR_FLAGS) & TENSOR_SELECTED) != 0) {
          inputs.put(
              model.signature().input(i).name(),
              tensor(
                  DataType.ofCode(Memory.readInt(input + TENSOR_DATATYPE)),
                  RequestLayout.shape(input),
                  Memory.readLong(input + TENSOR_DATA),
                  Memory.readLong(input + TENSOR_BYTE_SIZE),
                  (Memory.readInt(input + TENSOR_FLAGS) & RequestLayout.TENSOR_DEVICE) != 0));
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
    slot.beginEdit(generation);
    try {
      slot.requestId(Checks.notNull(id, "id"));
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /** From now, how long the answer may take; then {@link StatusCode#DEADLINE_EXCEEDED}. */
  public InferRequest deadline(Duration fromNow) {
    slot.beginEdit(generation);
    try {
      Checks.notNegative(fromNow, "deadline");
      long deadlineNs = Checks.deadlineNs(fromNow);
      slot.deadlineNs(deadlineNs);
      Memory.writeLong(slot.record() + RequestLayout.REQUEST_DEADLINE_NS, deadlineNs);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /** How long the request may wait for its turn, as far as the model's queue policy lets it. */
  public InferRequest timeout(Duration inQueue) {
    slot.beginEdit(generation);
    try {
      Checks.notNegative(inQueue, "timeout");
      Memory.writeLong(slot.record() + RequestLayout.REQUEST_TIMEOUT_NS, Checks.nanos(inQueue));
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /** 1 is the most urgent; 0, and levels the model does not have, mean its default. */
  public InferRequest priority(int level) {
    slot.beginEdit(generation);
    try {
      Checks.notNegative(level, "priority");
      Memory.writeInt(slot.record() + RequestLayout.REQUEST_PRIORITY, level);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
  }

  /** A parameter for the backend: a boolean, an integer, a string, or a floating-point number. */
  public InferRequest parameter(String key, Object value) {
    slot.beginEdit(generation);
    try {
      RequestParameters.check(key, value);
      Map<String, Object> parameters = slot.parameters();
      if (parameters == null) {
        parameters = new LinkedHashMap<>();
        slot.parameters(parameters);
      }
      parameters.put(key, value);
    } catch (Throwable t) {
      close();
      throw t;
    } finally {
      slot.endEdit();
    }
    return this;
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
    checkSingleResponse();
    Slot slot = this.slot;
    slot.beginSubmit(generation);
    int status;
    try {
      checkInputs();
      slot.waiter(Thread.currentThread());
      status = RequestCalls.submit(slot.record());
    } catch (Throwable t) {
      slot.undoSubmit();
      throw t;
    }
    if (status == Completion.PENDING) {
      Completion.await(model, slot);
    } else {
      slot.complete();
    }
    return Completion.finish(model, slot, generation);
  }

  /**
   * Sends the request; the future completes with the response, which its receiver closes. What
   * depends on the future runs on a virtual thread of its own. Cancelling it cancels the request.
   * Not for decoupled models, as {@link #infer}.
   */
  public CompletableFuture<InferResponse> inferAsync() {
    checkSingleResponse();
    slot.beginSubmit(generation);
    InferFuture future = new InferFuture(model, slot, generation);
    int status;
    try {
      checkInputs();
      slot.completion(future);
      forbidInline();
      future.expireAt(slot.deadlineNs());
      status = RequestCalls.submit(slot.record());
    } catch (Throwable t) {
      future.cancelExpiry();
      slot.undoSubmit();
      throw t;
    }
    if (status != Completion.PENDING) {
      slot.complete();
      future.finish();
    }
    return future;
  }

  /**
   * Sends the request and returns; the listener gets the answer on whichever thread completes it,
   * possibly this one, before this returns. For frontends that have threads of their own: there is
   * no thread in between, as there is with {@link #inferAsync}. What is wrong with the request
   * itself is thrown from here, and the listener hears nothing.
   *
   * <p>A deadline bounds the time in the queue only: whoever wants to give up on a request that
   * executes calls {@link #cancel}. Not for decoupled models, as {@link #infer}.
   *
   * @param inline whether the request may execute on this thread when the model is idle
   */
  public void submit(ResponseListener listener, boolean inline) {
    Checks.notNull(listener, "listener");
    checkSingleResponse();
    slot.beginSubmit(generation);
    ListenerCompletion completion = new ListenerCompletion(model, slot, generation, listener);
    int status;
    try {
      checkInputs();
      slot.completion(completion);
      if (!inline) {
        forbidInline();
      }
      status = RequestCalls.submit(slot.record());
    } catch (Throwable t) {
      slot.undoSubmit();
      throw t;
    }
    if (status != Completion.PENDING) {
      slot.complete();
      completion.run();
    }
  }

  private void forbidInline() {
    long flagsAt = slot.record() + RequestLayout.REQUEST_FLAGS;
    Memory.writeInt(flagsAt, Memory.readInt(flagsAt) | RequestLayout.REQUEST_NO_INLINE);
  }

  /**
   * Sends the request; the stream has its responses, and must be closed. For every model: those
   * that are not decoupled have one response. What is wrong with the request itself is thrown from
   * here, later failures come from the stream.
   */
  public ResponseStream inferStream() {
    slot.beginSubmit(generation);
    StreamQueue queue;
    int status;
    try {
      checkInputs();
      queue = new StreamQueue(model, slot, generation);
      slot.receiver(queue);
      status = RequestCalls.submit(slot.record());
    } catch (Throwable t) {
      slot.undoSubmit();
      throw t;
    }
    if (status != Completion.PENDING) {
      slot.complete();
      if (status != StatusCode.OK.number()) {
        throw Completion.failure(slot);
      }
      queue.completed();
    }
    return new ResponseStream(queue);
  }

  private void checkSingleResponse() {
    if (model.spec().decoupled()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "infer doesn't support models with decoupled transaction policy, and '"
              + model.spec().name()
              + "' is one: use inferStream");
    }
  }

  private void checkInputs() {
    if (slot.requiredInputsGiven() == model.signature().requiredInputCount()) {
      return;
    }
    boolean[] given = new boolean[model.spec().inputs().size()];
    for (int i = 0; i < given.length; i++) {
      long flagsAt = RequestLayout.input(slot.record(), i) + TENSOR_FLAGS;
      given[i] = (Memory.readInt(flagsAt) & TENSOR_SELECTED) != 0;
    }
    throw model.signature().missingInputs(given);
  }

  /**
   * Gives up on the request. True when it will never execute: who waits for it gets {@link
   * StatusCode#CANCELLED}. False when its turn has come (a backend may notice and stop early, and
   * the answer may be either), when it is done, or closed.
   */
  public boolean cancel() {
    if (!slot.tryEnter(generation, Slot.REQUEST)) {
      return false;
    }
    try {
      boolean cancelled = RequestCalls.cancel(slot.record()) == StatusCode.OK.number();
      ResponseReceiver receiver = slot.receiver();
      if (receiver != null) {
        receiver.cancelled();
      }
      return cancelled;
    } finally {
      slot.exit();
    }
  }

  /** Gives the inputs back. Closing twice does nothing. */
  @Override
  public void close() {
    slot.close(generation, Slot.REQUEST);
  }

  @Override
  protected void checkOpen() {
    if (!slot.has(generation, Slot.REQUEST)) {
      throw Slot.closed(Slot.REQUEST);
    }
  }

  @Override
  protected MemorySegment memory() {
    return slot.lend(generation, Slot.REQUEST, model.runtime().memory());
  }
}
