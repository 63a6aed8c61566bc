package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.model.SequenceId;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * The {@code nrd_batch} that an instance of a backend executes, with memory for the arguments of
 * calls about it. Each instance has one, which wraps its batches one after the other. It may be
 * used until execute returns, also by threads that execute waits for.
 */
public final class BatchRecord {

  /** The index in place of a request's, for an output of the whole batch. */
  public static final int WHOLE_BATCH = -1;

  static final StructLayout LAYOUT =
      Memory.struct(
          "int struct_size, request_count; long batch_size; int input_count, output_count; "
              + "long inputs, outputs, requests");

  private static final long REQUEST_COUNT = offset(LAYOUT, "request_count");
  private static final long BATCH_SIZE = offset(LAYOUT, "batch_size");
  private static final long INPUTS = offset(LAYOUT, "inputs");
  private static final long OUTPUTS = offset(LAYOUT, "outputs");
  static final long REQUESTS = offset(LAYOUT, "requests");

  /** Freed by the garbage collector, with the instance. */
  private final Arena arena = Arena.ofAuto();

  @GuardedBy("this")
  private final MemorySegment shape = arena.allocate(JAVA_LONG, TensorRecord.MAX_RANK);

  @GuardedBy("this")
  private final MemorySegment dataOut = arena.allocate(JAVA_LONG);

  @GuardedBy("this")
  private final long state = arena.allocate(TensorRecord.LAYOUT).address();

  @GuardedBy("this")
  private final long error = ErrorRecord.allocate(arena);

  private long address;

  BatchRecord() {}

  BatchRecord wrap(long batch) {
    address = batch;
    return this;
  }

  /** The number of requests in the batch. */
  public int requestCount() {
    return Memory.readInt(address + REQUEST_COUNT);
  }

  /** Rows of all requests together; 0 for models without a batch dimension. */
  public long size() {
    return Memory.readLong(address + BATCH_SIZE);
  }

  /** True if there are inputs of the whole batch; a backend that gathers by itself has none. */
  public boolean hasInputs() {
    return Memory.readLong(address + INPUTS) != 0;
  }

  /** Input {@code index} of the whole batch. */
  public TensorRecord input(int index) {
    return TensorRecord.at(Memory.readLong(address + INPUTS), index);
  }

  /** Output {@code index} of the whole batch. */
  public TensorRecord output(int index) {
    return TensorRecord.at(Memory.readLong(address + OUTPUTS), index);
  }

  /** Input {@code index} of one request. */
  public TensorRecord input(int request, int index) {
    return RequestRecord.input(request(request), index);
  }

  /** Output {@code index} of one request. */
  public TensorRecord output(int request, int index) {
    return RequestRecord.output(request(request), index);
  }

  /** The number of inputs that each request has; the batch has more if the core makes some. */
  public int requestInputCount(int request) {
    return RequestRecord.inputCount(request(request));
  }

  /** The number of rows in those inputs of one request that have a batch dimension. */
  public long rows(int request) {
    for (int i = 0; i < requestInputCount(request); i++) {
      TensorRecord input = input(request, i);
      if (input.isSelected()) {
        return input.rows();
      }
    }
    return 0;
  }

  /** The number of outputs that each request has; the batch has more if the core keeps some. */
  public int requestOutputCount(int request) {
    return RequestRecord.outputCount(request(request));
  }

  /** The row of the batch at which the rows of one request begin. */
  public long firstRow(int request) {
    return RequestRecord.firstRow(request(request));
  }

  /**
   * The tag that one request was submitted with; for a step of an ensemble, the tag of the
   * ensemble's request.
   */
  public long tag(int request) {
    return RequestRecord.tag(request(request));
  }

  /** The id of one request, if the backend asked for ids; else empty. */
  public String id(int request) {
    return RequestRecord.idOf(request(request));
  }

  /** The parameters of one request, if the backend asked for them. */
  public Map<String, Object> values(int request) {
    return RequestRecord.valuesOf(request(request));
  }

  /** The sequence that one request belongs to; empty: none. */
  public Optional<SequenceId> sequence(int request) {
    return RequestRecord.sequence(request(request));
  }

  /** True if one request has this flag. */
  public boolean isMarked(int request, int flag) {
    return RequestRecord.isMarked(request(request), flag);
  }

  /** True if the sender of one request has given up. */
  public boolean isCancelled(int request) {
    return RequestRecord.isCancelled(request(request));
  }

  private long request(int index) {
    return Memory.readLong(Memory.readLong(address + REQUESTS) + (long) index * Long.BYTES);
  }

  // ---- Calls -----------------------------------------------------------------------------------

  /** Makes memory for an output of one request, or of {@link #WHOLE_BATCH}; returns where it is. */
  public synchronized long allocate(
      int request, int index, DataType type, long[] dims, long byteSize) {
    for (int i = 0; i < dims.length; i++) {
      shape.setAtIndex(JAVA_LONG, i, dims[i]);
    }
    long shapeAt = shape.address();
    long outAt = dataOut.address();
    int status;
    try {
      status =
          request == WHOLE_BATCH
              ? (int)
                  Handles.OfBatches.BATCH_OUTPUT.invokeExact(
                      address, index, type.code(), dims.length, shapeAt, byteSize, outAt, error)
              : (int)
                  Handles.OfBatches.BATCH_REQUEST_OUTPUT.invokeExact(
                      address,
                      request,
                      index,
                      type.code(),
                      dims.length,
                      shapeAt,
                      byteSize,
                      outAt,
                      error);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    ErrorRecord.check(status, error);
    return Memory.readLong(outAt);
  }

  /**
   * Sends the outputs that were made for one request. The shared error record is not used: the call
   * may block for long, while other threads make outputs for other requests.
   */
  public void respond(int request) {
    try (Arena scratch = Arena.ofConfined()) {
      long failure = ErrorRecord.allocate(scratch);
      int status;
      try {
        status =
            (int) Handles.OfBatches.BATCH_REQUEST_RESPOND.invokeExact(address, request, failure);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, failure);
    }
  }

  /** Sends an error as a response to one request; may block as {@link #respond} does. */
  public void respondError(int request, StatusCode code, String message) {
    try (Arena scratch = Arena.ofConfined()) {
      long failure = ErrorRecord.allocate(scratch);
      MemorySegment text = encoded(message, scratch);
      int status;
      try {
        status =
            (int)
                Handles.OfBatches.BATCH_REQUEST_RESPOND_ERROR.invokeExact(
                    address, request, code.number(), text.address(), text.byteSize(), failure);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, failure);
    }
  }

  /** Has one request executed again instead of being answered. */
  public synchronized void reschedule(int request) {
    int status;
    try {
      status =
          (int) Handles.OfBatches.BATCH_REQUEST_RESCHEDULE.invokeExact(address, request, error);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    ErrorRecord.check(status, error);
  }

  /**
   * The state that one request begins with; valid until the next call of this method or {@link
   * #keep}, so the caller reads it under the lock of this record.
   */
  public synchronized TensorRecord state(int request, int index) {
    int status;
    try {
      status =
          (int)
              Handles.OfBatches.BATCH_REQUEST_STATE.invokeExact(
                  address, request, index, state, error);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    ErrorRecord.check(status, error);
    return TensorRecord.at(state, 0);
  }

  /** Stores a new state of one request's sequence; its memory belongs to the core from then on. */
  public synchronized void keep(
      int request, int index, DataType type, long[] dims, DeviceMemory memory) {
    TensorRecord made = TensorRecord.at(state, 0);
    made.describe(type, dims, memory.byteSize());
    made.lend(memory);
    int status;
    try {
      status =
          (int)
              Handles.OfBatches.BATCH_REQUEST_KEEP.invokeExact(
                  address, request, index, state, error);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    ErrorRecord.check(status, error);
  }

  /** Fails one request of the batch. */
  public void fail(int request, StatusCode code, String message) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment text = encoded(message, scratch);
      Handles.OfBatches.BATCH_REQUEST_FAIL.invokeExact(
          address, request, code.number(), text.address(), text.byteSize());
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  private static MemorySegment encoded(String message, Arena arena) {
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    MemorySegment room = arena.allocate(Math.max(1, bytes.length));
    return room.asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
  }
}
