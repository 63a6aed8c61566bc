package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.NativeCalls.downcall;
import static io.nereid.internal.ffi.NativeCalls.nothing;
import static io.nereid.internal.ffi.NativeCalls.status;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;

/**
 * Handles of the core's functions. Pointers are passed as longs, which is the same call on every
 * platform that the core is built for and makes no segment objects. A function is {@code critical}
 * only when it neither blocks nor calls back. Initialised after {@link NativeLibrary#load}.
 *
 * <p>For each new list of parameters the JVM generates code, which takes 2 to 3 ms, so functions
 * that are not called at the start are in nested classes.
 */
final class Handles {

  private static final MemoryLayout I = JAVA_INT;
  private static final MemoryLayout L = JAVA_LONG;
  private static final Linker.Option CRITICAL = Linker.Option.critical(false);

  static final MethodHandle HANDLE_COUNTS_READ = nothing("nrd_handle_counts_read", L);

  static final MethodHandle RUNTIME_CREATE = status("nrd_runtime_create", L, L, L);
  static final MethodHandle RUNTIME_RELEASE = status("nrd_runtime_release", L, L);
  static final MethodHandle RUNTIME_LOCK_PAGES = status("nrd_runtime_lock_pages", L, L, L, L, L);
  static final MethodHandle RUNTIME_POOL_STATS = nothing("nrd_runtime_pool_stats", L, L);
  static final MethodHandle RUNTIME_CACHE_STATS = nothing("nrd_runtime_cache_stats", L, L);

  static final MethodHandle BUFFER_RETAIN =
      downcall("nrd_buffer_retain", FunctionDescriptor.ofVoid(L), CRITICAL);
  static final MethodHandle BUFFER_RELEASE = nothing("nrd_buffer_release", L);

  static final MethodHandle REQUEST_ACQUIRE = status("nrd_request_acquire", L, L, L);
  static final MethodHandle REQUEST_RESET = nothing("nrd_request_reset", L);
  static final MethodHandle REQUEST_RELEASE = nothing("nrd_request_release", L);
  static final MethodHandle REQUEST_DROP_INPUTS = nothing("nrd_request_drop_inputs", L);
  static final MethodHandle REQUEST_DROP_OUTPUTS = nothing("nrd_request_drop_outputs", L);
  static final MethodHandle REQUEST_INPUT_ALLOC = status("nrd_request_input_alloc", L, I);
  static final MethodHandle REQUEST_SENT = nothing("nrd_request_sent", L, L);
  static final MethodHandle REQUEST_SUBMIT = status("nrd_request_submit", L);
  static final MethodHandle REQUEST_WARM_UP = status("nrd_request_warm_up", L);
  static final MethodHandle REQUEST_CANCEL = status("nrd_request_cancel", L);

  static final MethodHandle BACKEND_FIND = status("nrd_backend_find", L, L, L, L);

  static final MethodHandle SOURCE_OPEN = status("nrd_source_open", L, L, L, L);
  static final MethodHandle SOURCE_TENSOR = status("nrd_source_tensor", L, I, I, L);
  static final MethodHandle SOURCE_RELEASE = nothing("nrd_source_release", L);

  static final MethodHandle MODEL_LOAD = status("nrd_model_load", L, L, L, L, L);
  static final MethodHandle MODEL_DRAIN = status("nrd_model_drain", L, L, L);
  static final MethodHandle MODEL_RELEASE = nothing("nrd_model_release", L);
  static final MethodHandle MODEL_STATS_READ = nothing("nrd_model_stats_read", L, L);
  static final MethodHandle MODEL_MEMORY_READ = nothing("nrd_model_memory_read", L, L);
  static final MethodHandle MODEL_SEQUENCE_STATS_READ =
      nothing("nrd_model_sequence_stats_read", L, L);

  private Handles() {}

  /**
   * The functions that a backend in Java calls with its batch. The process of an isolated model
   * needs no others, so this class uses nothing of the outer one.
   */
  static final class OfBatches {
    private static final MemoryLayout I = JAVA_INT;
    private static final MemoryLayout L = JAVA_LONG;

    static final MethodHandle BATCH_OUTPUT = status("nrd_batch_output", L, I, I, I, L, L, L, L);
    static final MethodHandle BATCH_REQUEST_OUTPUT =
        status("nrd_batch_request_output", L, I, I, I, I, L, L, L, L);
    static final MethodHandle BATCH_REQUEST_RESPOND = status("nrd_batch_request_respond", L, I, L);
    static final MethodHandle BATCH_REQUEST_RESPOND_ERROR =
        status("nrd_batch_request_respond_error", L, I, I, L, L, L);
    static final MethodHandle BATCH_REQUEST_RESCHEDULE =
        status("nrd_batch_request_reschedule", L, I, L);
    static final MethodHandle BATCH_REQUEST_STATE =
        status("nrd_batch_request_state", L, I, I, L, L);
    static final MethodHandle BATCH_REQUEST_KEEP = status("nrd_batch_request_keep", L, I, I, L, L);
    static final MethodHandle BATCH_REQUEST_FAIL = nothing("nrd_batch_request_fail", L, I, I, L, L);
    static final MethodHandle REQUEST_IS_CANCELLED =
        downcall(
            "nrd_request_is_cancelled", FunctionDescriptor.of(I, L), Linker.Option.critical(false));

    private OfBatches() {}
  }

  /** The functions that tell how much may run at a time. */
  static final class OfLimits {
    static final MethodHandle RUNTIME_LIMIT = status("nrd_runtime_limit", L, L, I, L);
    static final MethodHandle RUNTIME_RESOURCE_STATS_READ =
        nothing("nrd_runtime_resource_stats_read", L, L, I, L);
    static final MethodHandle MODEL_INSTANCE_STATS_READ =
        status("nrd_model_instance_stats_read", L, I, L);

    private OfLimits() {}
  }

  /** The functions that read figures that are more than counters. */
  static final class OfFigures {
    static final MethodHandle HISTOGRAM_BUCKET_COUNT =
        downcall("nrd_histogram_bucket_count", FunctionDescriptor.of(I), CRITICAL);
    static final MethodHandle HISTOGRAM_BUCKET_NS =
        downcall("nrd_histogram_bucket_ns", FunctionDescriptor.of(L, I), CRITICAL);
    static final MethodHandle MODEL_BATCH_STATS_READ =
        nothing("nrd_model_batch_stats_read", L, L, I, L);
    static final MethodHandle MODEL_HISTOGRAM_READ = status("nrd_model_histogram_read", L, I, L, I);
    static final MethodHandle MODEL_OBJECTIVE_READ = status("nrd_model_objective_read", L, L);
    static final MethodHandle MODEL_COST_CURVE_READ =
        nothing("nrd_model_cost_curve_read", L, L, I, L);

    private OfFigures() {}
  }

  /** The functions for models in a process of their own. */
  static final class OfIsolation {
    static final MethodHandle BACKEND_ISOLATE = status("nrd_backend_isolate", L, L, L, L, L);
    static final MethodHandle SOURCE_COMPLETED = nothing("nrd_source_completed", L, L);
    static final MethodHandle MODEL_ISOLATION_READ = status("nrd_model_isolation_read", L, L, L);

    private OfIsolation() {}
  }

  /** The functions about the sequences of a model. */
  static final class OfSequences {
    static final MethodHandle MODEL_HAS_SEQUENCE =
        status("nrd_model_has_sequence", L, L, Memory.STRING);
    static final MethodHandle MODEL_FINISH_SEQUENCES = nothing("nrd_model_finish_sequences", L);

    private OfSequences() {}
  }
}
