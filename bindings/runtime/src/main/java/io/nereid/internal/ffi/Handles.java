package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.NativeCalls.downcall;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * Handles of the core's functions. Pointers are passed as longs, which is the same call on every
 * platform that the core is built for and makes no segment objects. A function is {@code critical}
 * only when it neither blocks nor calls back. Initialised after {@link NativeLibrary#load}.
 */
final class Handles {

  private static final Linker.Option CRITICAL = Linker.Option.critical(false);

  static final MethodHandle HANDLE_COUNTS_READ =
      downcall("nrd_handle_counts_read", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle RUNTIME_CREATE =
      downcall(
          "nrd_runtime_create", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle RUNTIME_RELEASE =
      downcall("nrd_runtime_release", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  static final MethodHandle RUNTIME_LOCK_PAGES =
      downcall(
          "nrd_runtime_lock_pages",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle RUNTIME_POOL_STATS =
      downcall("nrd_runtime_pool_stats", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  static final MethodHandle RUNTIME_CACHE_STATS =
      downcall("nrd_runtime_cache_stats", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  static final MethodHandle BUFFER_RETAIN =
      downcall("nrd_buffer_retain", FunctionDescriptor.ofVoid(JAVA_LONG), CRITICAL);

  static final MethodHandle BUFFER_RELEASE =
      downcall("nrd_buffer_release", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle HISTOGRAM_BUCKET_COUNT =
      downcall("nrd_histogram_bucket_count", FunctionDescriptor.of(JAVA_INT), CRITICAL);

  static final MethodHandle HISTOGRAM_BUCKET_NS =
      downcall("nrd_histogram_bucket_ns", FunctionDescriptor.of(JAVA_LONG, JAVA_INT), CRITICAL);

  static final MethodHandle REQUEST_ACQUIRE =
      downcall(
          "nrd_request_acquire", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle REQUEST_RESET =
      downcall("nrd_request_reset", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle REQUEST_RELEASE =
      downcall("nrd_request_release", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle REQUEST_DROP_INPUTS =
      downcall("nrd_request_drop_inputs", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle REQUEST_DROP_OUTPUTS =
      downcall("nrd_request_drop_outputs", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle REQUEST_INPUT_ALLOC =
      downcall("nrd_request_input_alloc", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));

  static final MethodHandle REQUEST_SENT =
      downcall("nrd_request_sent", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  static final MethodHandle REQUEST_SUBMIT =
      downcall("nrd_request_submit", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

  static final MethodHandle REQUEST_WARM_UP =
      downcall("nrd_request_warm_up", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

  static final MethodHandle REQUEST_CANCEL =
      downcall("nrd_request_cancel", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

  static final MethodHandle REQUEST_IS_CANCELLED =
      downcall("nrd_request_is_cancelled", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), CRITICAL);

  static final MethodHandle BATCH_OUTPUT =
      downcall(
          "nrd_batch_output",
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_OUTPUT =
      downcall(
          "nrd_batch_request_output",
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG,
              JAVA_LONG, JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_RESPOND =
      downcall(
          "nrd_batch_request_respond",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_RESPOND_ERROR =
      downcall(
          "nrd_batch_request_respond_error",
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_RESCHEDULE =
      downcall(
          "nrd_batch_request_reschedule",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_STATE =
      downcall(
          "nrd_batch_request_state",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_KEEP =
      downcall(
          "nrd_batch_request_keep",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));

  static final MethodHandle BATCH_REQUEST_FAIL =
      downcall(
          "nrd_batch_request_fail",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));

  static final MethodHandle BACKEND_FIND =
      downcall(
          "nrd_backend_find",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle SOURCE_OPEN =
      downcall(
          "nrd_source_open",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle SOURCE_TENSOR =
      downcall(
          "nrd_source_tensor",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));

  static final MethodHandle SOURCE_RELEASE =
      downcall("nrd_source_release", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle MODEL_LOAD =
      downcall(
          "nrd_model_load",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle MODEL_DRAIN =
      downcall("nrd_model_drain", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  static final MethodHandle MODEL_RELEASE =
      downcall("nrd_model_release", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle MODEL_STATS_READ =
      downcall("nrd_model_stats_read", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  static final MethodHandle MODEL_MEMORY_READ =
      downcall("nrd_model_memory_read", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  static final MethodHandle MODEL_SEQUENCE_STATS_READ =
      downcall("nrd_model_sequence_stats_read", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  static final MethodHandle MODEL_HAS_SEQUENCE =
      downcall(
          "nrd_model_has_sequence",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, TensorSpecRecord.STRING));

  static final MethodHandle MODEL_FINISH_SEQUENCES =
      downcall("nrd_model_finish_sequences", FunctionDescriptor.ofVoid(JAVA_LONG));

  static final MethodHandle MODEL_BATCH_STATS_READ =
      downcall(
          "nrd_model_batch_stats_read",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));

  static final MethodHandle MODEL_HISTOGRAM_READ =
      downcall(
          "nrd_model_histogram_read",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));

  static final MethodHandle RUNTIME_LIMIT =
      downcall(
          "nrd_runtime_limit",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));

  static final MethodHandle RUNTIME_RESOURCE_STATS_READ =
      downcall(
          "nrd_runtime_resource_stats_read",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));

  static final MethodHandle MODEL_INSTANCE_STATS_READ =
      downcall(
          "nrd_model_instance_stats_read",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));

  static final MethodHandle MODEL_OBJECTIVE_READ =
      downcall("nrd_model_objective_read", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  static final MethodHandle MODEL_COST_CURVE_READ =
      downcall(
          "nrd_model_cost_curve_read",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));

  private Handles() {}
}
