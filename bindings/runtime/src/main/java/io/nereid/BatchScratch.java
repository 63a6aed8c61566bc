package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Native memory for the arguments of a backend's calls; one per instance, used by one thread at a
 * time. It is collected with its instance.
 */
final class BatchScratch {

  static final int WHOLE_BATCH = -1;

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment shape = arena.allocate(JAVA_LONG, RequestLayout.MAX_RANK);
  private final MemorySegment dataOut = arena.allocate(JAVA_LONG);
  private final long error = ErrorRecord.allocate(arena);

  /** The address of memory for an output of one request, or of all for {@link #WHOLE_BATCH}. */
  synchronized long output(
      long batch, int request, int index, DataType type, long[] dims, long byteSize) {
    for (int i = 0; i < dims.length; i++) {
      shape.setAtIndex(JAVA_LONG, i, dims[i]);
    }
    long shapeAt = shape.address();
    long outAt = dataOut.address();
    int status =
        request == WHOLE_BATCH
            ? RequestCalls.batchOutput(
                batch, index, type.code(), dims.length, shapeAt, byteSize, outAt, error)
            : RequestCalls.batchRequestOutput(
                batch, request, index, type.code(), dims.length, shapeAt, byteSize, outAt, error);
    ErrorRecord.check(status, error);
    return Memory.readLong(outAt);
  }

  /**
   * Sends the outputs that were made for one request. Not with the error record above: it may block
   * for long, while other threads make outputs for other requests.
   */
  static void respond(long batch, int request) {
    try (Arena scratch = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(scratch);
      ErrorRecord.check(RequestCalls.batchRequestRespond(batch, request, error), error);
    }
  }

  /** Fails one request of the batch. */
  static void fail(long batch, int request, StatusCode code, String message) {
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment text = scratch.allocate(Math.max(1, bytes.length));
      text.copyFrom(MemorySegment.ofArray(bytes));
      RequestCalls.batchRequestFail(batch, request, code.number(), text.address(), bytes.length);
    }
  }
}
