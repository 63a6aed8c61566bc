package io.nereid.internal.ffi;

import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;

/**
 * Layouts of what a request passes through: errors, tensors, requests, batches. Pointers are laid
 * out as longs, since they are only ever handled as addresses.
 */
public final class RequestLayout {

  /** {@code NRD_MAX_RANK}. */
  public static final int MAX_RANK = 8;

  /** {@code NRD_TENSOR_SELECTED}. */
  public static final int TENSOR_SELECTED = 1;

  /** {@code NRD_TENSOR_DEVICE}. */
  public static final int TENSOR_DEVICE = 2;

  /** {@code NRD_REQUEST_NO_INLINE}. */
  public static final int REQUEST_NO_INLINE = 1;

  /** {@code NRD_REQUEST_NO_CACHE}. */
  public static final int REQUEST_NO_CACHE = 2;

  public static final StructLayout ERROR =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("code"),
          JAVA_INT.withName("message_size"),
          JAVA_INT.withName("reserved"),
          sequenceLayout(1008, JAVA_BYTE).withName("message"));

  public static final long ERROR_CODE = offset(ERROR, "code");
  public static final long ERROR_MESSAGE_SIZE = offset(ERROR, "message_size");
  public static final long ERROR_MESSAGE = offset(ERROR, "message");
  public static final int ERROR_MESSAGE_CAPACITY = 1008;

  public static final StructLayout TENSOR =
      structLayout(
          JAVA_LONG.withName("data"),
          JAVA_LONG.withName("byte_size"),
          JAVA_LONG.withName("slab"),
          JAVA_INT.withName("datatype"),
          JAVA_INT.withName("rank"),
          JAVA_INT.withName("flags"),
          JAVA_INT.withName("device"),
          sequenceLayout(MAX_RANK, JAVA_LONG).withName("shape"));

  public static final long TENSOR_SIZE = TENSOR.byteSize();
  public static final long TENSOR_DATA = offset(TENSOR, "data");
  public static final long TENSOR_BYTE_SIZE = offset(TENSOR, "byte_size");
  public static final long TENSOR_SLAB = offset(TENSOR, "slab");
  public static final long TENSOR_DATATYPE = offset(TENSOR, "datatype");
  public static final long TENSOR_RANK = offset(TENSOR, "rank");
  public static final long TENSOR_FLAGS = offset(TENSOR, "flags");
  public static final long TENSOR_DEVICE_NUMBER = offset(TENSOR, "device");
  public static final long TENSOR_SHAPE = offset(TENSOR, "shape");

  // Of an output that is wanted on a device: NRD_TARGET_ADDRESS and NRD_TARGET_BYTES.
  public static final long TARGET_ADDRESS = TENSOR_SHAPE;
  public static final long TARGET_BYTES = TENSOR_SHAPE + Long.BYTES;

  public static final StructLayout REQUEST =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("flags"),
          JAVA_LONG.withName("tag"),
          JAVA_LONG.withName("deadline_ns"),
          JAVA_LONG.withName("timeout_ns"),
          JAVA_INT.withName("priority"),
          JAVA_INT.withName("input_count"),
          JAVA_INT.withName("output_count"),
          JAVA_INT.withName("reserved"),
          JAVA_LONG.withName("inputs"),
          JAVA_LONG.withName("outputs"),
          JAVA_LONG.withName("error"),
          JAVA_INT.withName("status"),
          JAVA_INT.withName("ran_inline"),
          JAVA_INT.withName("executed_batch_size"),
          JAVA_INT.withName("cache_hit"),
          JAVA_LONG.withName("queue_ns"),
          JAVA_LONG.withName("compute_input_ns"),
          JAVA_LONG.withName("compute_infer_ns"),
          JAVA_LONG.withName("compute_output_ns"));

  public static final long REQUEST_FLAGS = offset(REQUEST, "flags");
  public static final long REQUEST_TAG = offset(REQUEST, "tag");
  public static final long REQUEST_DEADLINE_NS = offset(REQUEST, "deadline_ns");
  public static final long REQUEST_TIMEOUT_NS = offset(REQUEST, "timeout_ns");
  public static final long REQUEST_PRIORITY = offset(REQUEST, "priority");
  public static final long REQUEST_INPUT_COUNT = offset(REQUEST, "input_count");
  public static final long REQUEST_OUTPUT_COUNT = offset(REQUEST, "output_count");
  public static final long REQUEST_INPUTS = offset(REQUEST, "inputs");
  public static final long REQUEST_OUTPUTS = offset(REQUEST, "outputs");
  public static final long REQUEST_ERROR = offset(REQUEST, "error");
  public static final long REQUEST_STATUS = offset(REQUEST, "status");
  public static final long REQUEST_RAN_INLINE = offset(REQUEST, "ran_inline");
  public static final long REQUEST_EXECUTED_BATCH_SIZE = offset(REQUEST, "executed_batch_size");
  public static final long REQUEST_CACHE_HIT = offset(REQUEST, "cache_hit");
  public static final long REQUEST_QUEUE_NS = offset(REQUEST, "queue_ns");
  public static final long REQUEST_COMPUTE_INPUT_NS = offset(REQUEST, "compute_input_ns");
  public static final long REQUEST_COMPUTE_INFER_NS = offset(REQUEST, "compute_infer_ns");
  public static final long REQUEST_COMPUTE_OUTPUT_NS = offset(REQUEST, "compute_output_ns");

  public static final StructLayout BATCH =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("request_count"),
          JAVA_LONG.withName("batch_size"),
          JAVA_INT.withName("input_count"),
          JAVA_INT.withName("output_count"),
          JAVA_LONG.withName("inputs"),
          JAVA_LONG.withName("outputs"),
          JAVA_LONG.withName("requests"));

  public static final long BATCH_REQUEST_COUNT = offset(BATCH, "request_count");
  public static final long BATCH_BATCH_SIZE = offset(BATCH, "batch_size");
  public static final long BATCH_INPUTS = offset(BATCH, "inputs");
  public static final long BATCH_OUTPUTS = offset(BATCH, "outputs");
  public static final long BATCH_REQUESTS = offset(BATCH, "requests");

  private RequestLayout() {}

  static long offset(StructLayout layout, String field) {
    return layout.byteOffset(PathElement.groupElement(field));
  }

  /** Size of {@code layout} as an int, as structs state their own size. */
  static int size(MemoryLayout layout) {
    return Math.toIntExact(layout.byteSize());
  }

  /** Address of input {@code index} of a request record. */
  public static long input(long request, int index) {
    return Memory.readLong(request + REQUEST_INPUTS) + index * TENSOR_SIZE;
  }

  /** Address of output {@code index} of a request record. */
  public static long output(long request, int index) {
    return Memory.readLong(request + REQUEST_OUTPUTS) + index * TENSOR_SIZE;
  }

  /** Status of a completed request record. */
  public static int status(long request) {
    return Memory.readInt(request + REQUEST_STATUS);
  }

  /** Message in the error of a request record. */
  public static String message(long request) {
    return ErrorRecord.message(Memory.readLong(request + REQUEST_ERROR));
  }

  /** The shape of a tensor, as a fresh array. */
  public static long[] shape(long tensor) {
    int rank = Memory.readInt(tensor + TENSOR_RANK);
    long[] shape = new long[rank];
    for (int i = 0; i < rank; i++) {
      shape[i] = Memory.readLong(tensor + TENSOR_SHAPE + (long) i * Long.BYTES);
    }
    return shape;
  }
}
