package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.model.SequenceId;
import io.nereid.statistics.Timings;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * An {@code nrd_request} and what can be done with it. There is one object for each record of the
 * core, and both are reused together. The record belongs to the core and stays until {@link
 * #release}; the caller decides which thread may use it when.
 */
public final class RequestRecord {

  /** The status that {@link #submit} returns if the completion follows. */
  public static final int PENDING = -1;

  private static final int NO_INLINE = 1; // NRD_REQUEST_NO_INLINE

  /** {@code NRD_REQUEST_SEQUENCE_START}: the request is the first of its sequence. */
  public static final int SEQUENCE_START = 4;

  /** {@code NRD_REQUEST_SEQUENCE_END}: the request is the last of its sequence. */
  public static final int SEQUENCE_END = 8;

  /** {@code NRD_REQUEST_TRACED}. */
  public static final int TRACED = 16;

  static final StructLayout LAYOUT =
      Memory.struct(
          "int struct_size, flags; long tag, deadline_ns, timeout_ns; int priority, "
              + "input_count, output_count, first_row; long inputs, outputs, error, sequence_id; "
              + "string sequence_name; int status, ran_inline, executed_batch_size, cache_hit; "
              + "long queue_ns, compute_input_ns, compute_infer_ns, compute_output_ns; string id; "
              + "long values, response_values; int value_count, response_value_count");

  /** {@code nrd_value}: a value that travels with a request or response, besides tensors. */
  static final StructLayout VALUE =
      Memory.struct("string name, text; long number; double real; int kind, reserved");

  /** {@code nrd_receiver}: the functions that get the answers to one request. */
  static final StructLayout RECEIVER = Memory.struct("long context, complete, respond");

  private static final long FLAGS = offset(LAYOUT, "flags");
  private static final long TAG = offset(LAYOUT, "tag");
  private static final long DEADLINE_NS = offset(LAYOUT, "deadline_ns");
  private static final long TIMEOUT_NS = offset(LAYOUT, "timeout_ns");
  private static final long PRIORITY = offset(LAYOUT, "priority");
  private static final long INPUT_COUNT = offset(LAYOUT, "input_count");
  private static final long OUTPUT_COUNT = offset(LAYOUT, "output_count");
  private static final long FIRST_ROW = offset(LAYOUT, "first_row");
  static final long INPUTS = offset(LAYOUT, "inputs");
  private static final long OUTPUTS = offset(LAYOUT, "outputs");
  private static final long ERROR = offset(LAYOUT, "error");
  private static final long SEQUENCE_ID = offset(LAYOUT, "sequence_id");
  private static final long SEQUENCE_NAME = offset(LAYOUT, "sequence_name");
  static final long STATUS = offset(LAYOUT, "status");
  private static final long RAN_INLINE = offset(LAYOUT, "ran_inline");
  private static final long EXECUTED_BATCH_SIZE = offset(LAYOUT, "executed_batch_size");
  private static final long CACHE_HIT = offset(LAYOUT, "cache_hit");
  static final long QUEUE_NS = offset(LAYOUT, "queue_ns");
  private static final long COMPUTE_INPUT_NS = offset(LAYOUT, "compute_input_ns");
  private static final long COMPUTE_INFER_NS = offset(LAYOUT, "compute_infer_ns");
  private static final long COMPUTE_OUTPUT_NS = offset(LAYOUT, "compute_output_ns");
  private static final long ID = offset(LAYOUT, "id");
  private static final long VALUES = offset(LAYOUT, "values");
  private static final long VALUE_COUNT = offset(LAYOUT, "value_count");
  private static final long RESPONSE_VALUES = offset(LAYOUT, "response_values");
  private static final long RESPONSE_VALUE_COUNT = offset(LAYOUT, "response_value_count");

  final long address;

  // The core does not move the tensors while the record is held.
  private final TensorRecord[] inputs;
  private final TensorRecord[] outputs;

  /**
   * Holds the name of the request's sequence; null: no sequence had a name. Freed by the garbage
   * collector.
   */
  private MemorySegment sequenceName;

  /** Holds the values for the backend besides tensors; null: none so far. */
  private MemorySegment told;

  RequestRecord(long address) {
    this.address = address;
    inputs = tensors(INPUTS, INPUT_COUNT);
    outputs = tensors(OUTPUTS, OUTPUT_COUNT);
  }

  private TensorRecord[] tensors(long array, long count) {
    TensorRecord[] tensors = new TensorRecord[Memory.readInt(address + count)];
    for (int i = 0; i < tensors.length; i++) {
      tensors[i] = TensorRecord.at(Memory.readLong(address + array), i);
    }
    return tensors;
  }

  // ---- Reading any record by its address, for batches and batchers -----------------------------

  static int inputCount(long request) {
    return Memory.readInt(request + INPUT_COUNT);
  }

  static int outputCount(long request) {
    return Memory.readInt(request + OUTPUT_COUNT);
  }

  static long firstRow(long request) {
    return Integer.toUnsignedLong(Memory.readInt(request + FIRST_ROW));
  }

  static TensorRecord input(long request, int index) {
    return TensorRecord.at(Memory.readLong(request + INPUTS), index);
  }

  static TensorRecord output(long request, int index) {
    return TensorRecord.at(Memory.readLong(request + OUTPUTS), index);
  }

  static long tag(long request) {
    return Memory.readLong(request + TAG);
  }

  static int priorityOf(long request) {
    return Memory.readInt(request + PRIORITY);
  }

  static long deadlineOf(long request) {
    return Memory.readLong(request + DEADLINE_NS);
  }

  static String idOf(long request) {
    return TensorSpecRecord.readString(request + ID);
  }

  static Map<String, Object> valuesOf(long request) {
    return ValueRecord.read(
        Memory.readLong(request + VALUES), Memory.readInt(request + VALUE_COUNT));
  }

  static boolean isMarked(long request, int flag) {
    return (Memory.readInt(request + FLAGS) & flag) != 0;
  }

  static Optional<SequenceId> sequence(long request) {
    long name = request + SEQUENCE_NAME;
    SequenceId id =
        new SequenceId(Memory.readLong(request + SEQUENCE_ID), TensorSpecRecord.readString(name));
    return id.isNone() ? Optional.empty() : Optional.of(id);
  }

  // ---- The request -----------------------------------------------------------------------------

  /** The number of the model's inputs. */
  public int inputCount() {
    return inputs.length;
  }

  /** Input {@code index} of the model, given or not. */
  public TensorRecord input(int index) {
    return inputs[index];
  }

  /** The number of the model's outputs. */
  public int outputCount() {
    return outputs.length;
  }

  /** Output {@code index} of the model, wanted or not. */
  public TensorRecord output(int index) {
    return outputs[index];
  }

  /** Sets the number by which completions and batches name the request. */
  public void tag(int tag) {
    Memory.writeLong(address + TAG, tag);
  }

  /** Sets the moment after which the request is not started any more; 0: none. */
  public void deadlineNs(long value) {
    Memory.writeLong(address + DEADLINE_NS, value);
  }

  /** Sets the longest time in the queue; 0: the model's default. */
  public void timeoutNs(long value) {
    Memory.writeLong(address + TIMEOUT_NS, value);
  }

  /** Returns the longest time in the queue; 0: the model's default. */
  public long timeoutNs() {
    return Memory.readLong(address + TIMEOUT_NS);
  }

  /** Sets the priority: 1 is the most urgent level, 0 the model's default. */
  public void priority(int level) {
    Memory.writeInt(address + PRIORITY, level);
  }

  /** Returns the priority; 0: the model's default. */
  public int priority() {
    return Memory.readInt(address + PRIORITY);
  }

  /** Keeps the request from being executed on the thread that submits it. */
  public void forbidInline() {
    mark(NO_INLINE, true);
  }

  /** Sets or takes back a flag. */
  public void mark(int flag, boolean value) {
    int others = Memory.readInt(address + FLAGS) & ~flag;
    Memory.writeInt(address + FLAGS, value ? others | flag : others);
  }

  /** True if it has this flag. */
  public boolean isMarked(int flag) {
    return isMarked(address, flag);
  }

  /** Makes it part of a sequence. */
  public void sequence(SequenceId id) {
    Memory.writeLong(address + SEQUENCE_ID, id.number());
    byte[] name = id.name().getBytes(StandardCharsets.UTF_8);
    if (name.length > 0 && sequenceName == null) {
      sequenceName = Arena.ofAuto().allocate(SequenceId.MAX_NAME_BYTES);
    }
    if (name.length > 0) {
      MemorySegment.copy(name, 0, sequenceName, JAVA_BYTE, 0, name.length);
    }
    TensorSpecRecord.writeString(
        address + SEQUENCE_NAME, name.length == 0 ? 0 : sequenceName.address(), name.length);
  }

  /** Gives the backend the request's id and the values that came with it. */
  public void tell(String id, Map<String, Object> values) {
    told = ValueRecord.write(told, address + ID, id, values);
    Memory.writeLong(address + VALUES, values.isEmpty() ? 0 : told.address());
    Memory.writeInt(address + VALUE_COUNT, values.size());
  }

  /** Copies the settings of another request. */
  public void copySettings(RequestRecord other) {
    deadlineNs(Memory.readLong(other.address + DEADLINE_NS));
    timeoutNs(Memory.readLong(other.address + TIMEOUT_NS));
    priority(Memory.readInt(other.address + PRIORITY));
    Memory.writeInt(address + FLAGS, Memory.readInt(other.address + FLAGS));
  }

  // ---- The answer, once the request is complete ------------------------------------------------

  /** The number of a {@link StatusCode}. */
  public int status() {
    return Memory.readInt(address + STATUS);
  }

  /** The failure of the request, which ended with {@code status}. */
  public NereidException failure(int status) {
    return ErrorRecord.exception(status, Memory.readLong(address + ERROR));
  }

  /** True if the request was executed on the thread that submitted it. */
  public boolean ranInline() {
    return Memory.readInt(address + RAN_INLINE) != 0;
  }

  /** Rows of the batch that the request was executed in; 0: it was not executed. */
  public int executedBatchSize() {
    return Memory.readInt(address + EXECUTED_BATCH_SIZE);
  }

  /** True if the answer came from the response cache. */
  public boolean cacheHit() {
    return Memory.readInt(address + CACHE_HIT) != 0;
  }

  /**
   * The backend's values for the response, or, while an earlier response is received, for that one.
   */
  public Map<String, Object> responseValues() {
    int count = Memory.readInt(address + RESPONSE_VALUE_COUNT);
    return count == 0
        ? Map.of()
        : ValueRecord.read(Memory.readLong(address + RESPONSE_VALUES), count);
  }

  /** The times that the request spent waiting and in each stage of its execution. */
  public Timings timings() {
    return new Timings(
        Memory.readLong(address + QUEUE_NS),
        Memory.readLong(address + COMPUTE_INPUT_NS),
        Memory.readLong(address + COMPUTE_INFER_NS),
        Memory.readLong(address + COMPUTE_OUTPUT_NS));
  }

  // ---- Calls -----------------------------------------------------------------------------------

  /** Gives input {@code index}, which was described, memory of the pool; returns a status. */
  public int allocateInput(int index) {
    try {
      return (int) Handles.REQUEST_INPUT_ALLOC.invokeExact(address, index);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Hands the request to the core; returns a status, or {@link #PENDING}. */
  public int submit() {
    try {
      return (int) Handles.REQUEST_SUBMIT.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Executes the request on all instances; returns a status. */
  public int warmUp() {
    try {
      return (int) Handles.REQUEST_WARM_UP.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives up on the request; true if it will never execute. */
  public boolean cancel() {
    try {
      return (int) Handles.REQUEST_CANCEL.invokeExact(address) == StatusCode.OK.number();
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** True if the sender of the request at an address has given up. */
  static boolean isCancelled(long request) {
    try {
      return (int) Handles.OfBatches.REQUEST_IS_CANCELLED.invokeExact(request) != 0;
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives the inputs' memory back. */
  public void dropInputs() {
    try {
      Handles.REQUEST_DROP_INPUTS.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives the outputs' memory back. */
  public void dropOutputs() {
    try {
      Handles.REQUEST_DROP_OUTPUTS.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives all memory back and clears it for another use. */
  public void reset() {
    try {
      Handles.REQUEST_RESET.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Gives the record back to the core. */
  public void release() {
    try {
      Handles.REQUEST_RELEASE.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }
}
