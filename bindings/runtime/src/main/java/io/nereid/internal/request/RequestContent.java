package io.nereid.internal.request;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.model.SequenceId;
import io.nereid.model.TracedActivity;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The content that the sender puts into the request that a slot serves: inputs with their memory,
 * wanted outputs, and settings. Written by the thread that edits the request; read by the backend,
 * and by others after they saw that it was submitted.
 */
public final class RequestContent {

  private static final long RETRY_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final String RESERVED_PREFIX = "triton_";

  private final RequestRecord record;
  private final Signature signature;
  private final long poolByteLimit;

  private String id;
  private Map<String, Object> parameters;
  private MemorySegment[] borrowed;
  private List<Runnable> afterwards; // null: no actions
  private long deadlineNs;
  private int requiredInputsGiven;
  private SequencePart sequence; // null: the request belongs to no sequence
  private Consumer<TracedActivity> tracer; // null: activities are not traced
  private Throwable thrown; // thrown by a backend that executed the request; set before completion

  RequestContent(RequestRecord record, Signature signature, long poolByteLimit) {
    this.record = record;
    this.signature = signature;
    this.poolByteLimit = poolByteLimit;
  }

  /** Clears the content for another request, when nobody reads the record's inputs any more. */
  void clear() {
    id = null;
    parameters = null;
    thrown = null;
    deadlineNs = 0;
    requiredInputsGiven = 0;
    sequence = null;
    tracer = null;
    if (borrowed != null) {
      Arrays.fill(borrowed, null);
    }
    if (afterwards != null) {
      afterwards.forEach(Runnable::run);
      afterwards = null;
    }
  }

  /** Drops the parameters, which nobody reads of a request that is closed and answered. */
  void dropParameters() {
    parameters = null;
  }

  // ---- Inputs and outputs ----------------------------------------------------------------------

  /** Writes the type and shape of an input, which counts as given when it has its memory. */
  public TensorRecord describe(int index, DataType type, long[] shape, long byteSize) {
    TensorRecord input = record.input(index);
    if (input.isSelected()) {
      String name = signature.input(index).name();
      throw Signature.invalid("input '" + name + "' already exists in request");
    }
    if (shape.length > TensorRecord.MAX_RANK) {
      Signature.checkRank(
          "input '%s' for model '%s'"
              .formatted(signature.input(index).name(), signature.spec().name()),
          shape);
    }
    input.describe(type, shape, byteSize);
    return input;
  }

  /** Marks input {@code index}, which has its memory now, as given. */
  public void given(int index) {
    if (!signature.input(index).optional()) {
      requiredInputsGiven++;
    }
  }

  /**
   * Gives an input that was described the memory of a tensor, or else a copy of that.
   *
   * @param callers whether the memory is the caller's, not a request's, a response's or a batch's
   */
  public void bind(int index, TensorRecord input, Tensor tensor, boolean callers) {
    MemorySegment segment = tensor.segment();
    if (callers && PermanentMemory.is(segment)) {
      borrow(index, segment);
      input.lend(segment);
      return;
    }
    allocate(index);
    try {
      input.copyFrom(segment);
    } catch (RuntimeException e) {
      // This thread cannot read the segment, or it was closed: leave the input as not given.
      input.deselect();
      throw e;
    }
  }

  /** Keeps memory of the user's reachable while the core may read it. */
  private void borrow(int input, MemorySegment segment) {
    if (borrowed == null) {
      borrowed = new MemorySegment[record.inputCount()];
    }
    borrowed[input] = segment;
  }

  /** The user's memory that an input refers to, or null. */
  public MemorySegment borrowed(int input) {
    return borrowed == null || input >= borrowed.length ? null : borrowed[input];
  }

  /**
   * Gives an input that was described memory from the pool; waits for it when the request has a
   * deadline.
   */
  public void allocate(int index) {
    while (true) {
      int status = record.allocateInput(index);
      if (status == StatusCode.OK.number()) {
        return;
      }
      NereidException failure = record.failure(status);
      if (failure.code() != StatusCode.RESOURCE_EXHAUSTED
          || deadlineNs == 0
          || record.input(index).byteSize() > poolByteLimit) {
        throw failure;
      }
      if (System.nanoTime() - deadlineNs >= 0) {
        throw new NereidException(
            StatusCode.DEADLINE_EXCEEDED, "no memory for an input before the deadline", failure);
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new NereidException(
            StatusCode.CANCELLED, "interrupted while waiting for memory for an input", failure);
      }
      LockSupport.parkNanos(RETRY_NS);
    }
  }

  /** Gives input {@code index} memory of the pool; returns the address. */
  public long place(int index, DataType type, long[] shape, long byteSize) {
    TensorRecord input = describe(index, type, shape, byteSize);
    allocate(index);
    given(index);
    return input.data();
  }

  /** Gives an input the memory of a GPU; {@code release} as for {@link #afterwards}. */
  public void deviceInput(String name, DeviceMemory memory, Runnable release, long[] shape) {
    checkDevice(memory, release);
    Checks.notNull(shape, "shape");
    int index = signature.inputIndex(name);
    DataType type = signature.input(index).dataType();
    describe(index, type, shape, memory.byteSize()).lend(memory);
    afterwards(release);
    given(index);
  }

  /** Marks as wanted output {@code index}, in the pool or where {@link #deviceOutput} said. */
  public void output(int index) {
    TensorRecord output = record.output(index);
    if (output.isSelected()) {
      throw twice(index);
    }
    output.select();
  }

  /**
   * Marks an output as wanted in the memory of a GPU.
   *
   * @param release as for {@link #afterwards}
   */
  public void deviceOutput(String name, DeviceMemory memory, Runnable release) {
    checkDevice(memory, release);
    int index = signature.outputIndex(name);
    TensorRecord output = record.output(index);
    if (output.isOnDevice()) {
      throw twice(index);
    }
    output.target(memory);
    afterwards(release);
  }

  private static void checkDevice(DeviceMemory memory, Runnable release) {
    Checks.notNull(memory, "memory");
    Checks.notNull(release, "release");
  }

  private NereidException twice(int output) {
    String name = signature.output(output).name();
    return Signature.invalid("output '" + name + "' already exists in request");
  }

  /** Runs an action, which throws nothing, when nobody reads the record's inputs any more. */
  public void afterwards(Runnable action) {
    if (afterwards == null) {
      afterwards = new ArrayList<>(2);
    }
    afterwards.add(action);
  }

  /** Throws when the model requires inputs that were not given. */
  public void checkInputs() {
    if (requiredInputsGiven == signature.requiredInputCount()) {
      if (signature.takesValues()) {
        record.tell(id == null ? "" : id, parameters == null ? Map.of() : parameters);
      }
      return;
    }
    boolean[] given = new boolean[record.inputCount()];
    for (int i = 0; i < given.length; i++) {
      given[i] = record.input(i).isSelected();
    }
    throw signature.missingInputs(given);
  }

  // ---- Settings --------------------------------------------------------------------------------

  /** The user's id of the request, or null. */
  public String id() {
    return id;
  }

  public void id(String value) {
    id = value;
  }

  /** The user's parameters. */
  public Map<String, Object> parameters() {
    return parameters == null ? Map.of() : Map.copyOf(parameters);
  }

  /** Adds a parameter. */
  public void parameter(String key, Object value) {
    if (Checks.notNull(key, "key").startsWith(RESERVED_PREFIX)) {
      throw Signature.invalid(
          "parameter keys starting with '"
              + RESERVED_PREFIX
              + "' are reserved for Triton usage and should not be specified.");
    }
    boolean valid =
        switch (value) {
          case Boolean b -> true;
          case String s -> true;
          case Byte b -> true;
          case Short s -> true;
          case Integer i -> true;
          case Long l -> true;
          case Float f -> true;
          case Double d -> true;
          case BigInteger i -> i.signum() >= 0 && i.bitLength() <= Long.SIZE;
          case null, default -> false;
        };
    if (!valid) {
      throw Signature.invalid(
          "parameter '"
              + key
              + "' has invalid type. It should be either 'int', 'bool', or 'string'.");
    }
    if (parameters == null) {
      parameters = new LinkedHashMap<>();
    }
    parameters.put(key, value);
  }

  /** Absolute deadline; 0: none. */
  public long deadlineNs() {
    return deadlineNs;
  }

  public void deadlineNs(long value) {
    deadlineNs = value;
    record.deadlineNs(value);
  }

  /** Returns the listener to the activities that plug-ins tell of the request; null: none. */
  Consumer<TracedActivity> tracer() {
    return tracer;
  }

  /** Sets the listener that hears the activities that plug-ins tell of the request. */
  public void tracer(Consumer<TracedActivity> listener) {
    record.mark(RequestRecord.TRACED, true);
    tracer = listener;
  }

  /** The request's part in a sequence; null: it belongs to none. */
  SequencePart sequence() {
    return sequence;
  }

  /**
   * Makes the request part of a sequence.
   *
   * @param startDue true: the next request that is sent starts the sequence; null: the sender
   *     decides
   */
  public void sequence(SequenceId id, AtomicBoolean startDue) {
    record.sequence(id);
    sequence = id.isNone() ? null : new SequencePart(id, startDue);
  }

  /** True if it belongs to a sequence. */
  public boolean isOfSequence() {
    return sequence != null;
  }

  /** True if the request is sent from another slot. */
  boolean isMoved() {
    return sequence != null && sequence.isMoved();
  }

  /** Takes over the content of a request to another load of the model. */
  void takeOver(RequestContent other) {
    for (int i = 0; i < other.record.inputCount(); i++) {
      if (other.record.input(i).isSelected()) {
        int index = signature.inputIndex(other.signature.input(i).name());
        record.input(index).copy(other.record.input(i));
        if (other.borrowed(i) != null) {
          borrow(index, other.borrowed(i));
        }
        given(index);
      }
    }
    for (int i = 0; i < other.record.outputCount(); i++) {
      if (other.record.output(i).isSelected()) {
        int index = signature.outputIndex(other.signature.output(i).name());
        record.output(index).copy(other.record.output(i));
      }
    }
    record.copySettings(other.record);
    id = other.id;
    parameters = other.parameters;
    deadlineNs = other.deadlineNs;
    tracer = other.tracer;
    record.sequence(other.sequence.id());
    sequence = other.sequence.passOn();
    afterwards = other.afterwards;
    other.afterwards = null;
  }

  // ---- The end ---------------------------------------------------------------------------------

  /** Sets the exception that a backend threw while it executed the request. */
  public void thrown(Throwable failure) {
    thrown = failure;
  }

  /** Notes that the request was not sent, or failed. */
  void notSent() {
    if (sequence != null) {
      sequence.failed(record);
    }
  }

  /** Notes that the core gave the record back; the waiting thread may have left. */
  void answered() {
    if (sequence != null && record.status() != StatusCode.OK.number()) {
      notSent();
    }
  }

  /** Returns the reason why a request failed; the core has given its record back. */
  NereidException failure() {
    NereidException failure = record.failure(record.status());
    if (thrown != null) {
      failure.initCause(thrown);
    }
    return failure;
  }
}
