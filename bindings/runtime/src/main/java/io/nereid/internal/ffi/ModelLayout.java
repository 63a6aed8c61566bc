package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.RequestLayout.offset;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** Layouts of what a runtime and its models are made from: options, specifications, backends. */
public final class ModelLayout {

  /** {@code NRD_SPEC_*}. */
  public static final int SPEC_OPTIONAL = 1;

  public static final int SPEC_RESHAPE = 2;

  /** {@code NRD_TENSOR_INPUT} and {@code NRD_TENSOR_OUTPUT}. */
  public static final int TENSOR_INPUT = 0;

  public static final int TENSOR_OUTPUT = 1;

  /** {@code NRD_MODEL_*}. */
  public static final int MODEL_NO_INLINE = 1;

  public static final int MODEL_DYNAMIC_BATCHING = 2;
  public static final int MODEL_PRESERVE_ORDERING = 4;
  public static final int MODEL_RESPONSE_CACHE = 8;
  public static final int MODEL_DECOUPLED = 16;

  /** {@code NRD_BACKEND_DEVICE_TENSORS}. */
  public static final int BACKEND_DEVICE_TENSORS = 4;

  /** {@code NRD_BACKEND_OWN_THREAD}. */
  public static final int BACKEND_OWN_THREAD = 1;

  /** {@code NRD_BACKEND_GATHERS}. */
  public static final int BACKEND_GATHERS = 2;

  public static final StructLayout STRING =
      structLayout(JAVA_LONG.withName("data"), JAVA_LONG.withName("size"));

  public static final long STRING_DATA = offset(STRING, "data");
  public static final long STRING_SIZE = offset(STRING, "size");

  public static final StructLayout TENSOR_SPEC =
      structLayout(
          STRING.withName("name"),
          JAVA_INT.withName("datatype"),
          JAVA_INT.withName("rank"),
          JAVA_INT.withName("flags"),
          JAVA_INT.withName("reshape_rank"),
          sequenceLayout(RequestLayout.MAX_RANK, JAVA_LONG).withName("dims"),
          sequenceLayout(RequestLayout.MAX_RANK, JAVA_LONG).withName("reshape"));

  public static final long TENSOR_SPEC_NAME = offset(TENSOR_SPEC, "name");
  public static final long TENSOR_SPEC_DATATYPE = offset(TENSOR_SPEC, "datatype");
  public static final long TENSOR_SPEC_RANK = offset(TENSOR_SPEC, "rank");
  public static final long TENSOR_SPEC_FLAGS = offset(TENSOR_SPEC, "flags");
  public static final long TENSOR_SPEC_RESHAPE_RANK = offset(TENSOR_SPEC, "reshape_rank");
  public static final long TENSOR_SPEC_DIMS = offset(TENSOR_SPEC, "dims");
  public static final long TENSOR_SPEC_RESHAPE = offset(TENSOR_SPEC, "reshape");

  public static final StructLayout QUEUE_POLICY =
      structLayout(
          JAVA_LONG.withName("default_timeout_ns"),
          JAVA_INT.withName("timeout_action"),
          JAVA_INT.withName("allow_timeout_override"),
          JAVA_INT.withName("max_queue_size"),
          JAVA_INT.withName("reserved"));

  public static final long POLICY_DEFAULT_TIMEOUT_NS = offset(QUEUE_POLICY, "default_timeout_ns");
  public static final long POLICY_TIMEOUT_ACTION = offset(QUEUE_POLICY, "timeout_action");
  public static final long POLICY_ALLOW_OVERRIDE = offset(QUEUE_POLICY, "allow_timeout_override");
  public static final long POLICY_MAX_QUEUE_SIZE = offset(QUEUE_POLICY, "max_queue_size");

  public static final StructLayout PARAMETER =
      structLayout(STRING.withName("key"), STRING.withName("value"));

  public static final long PARAMETER_KEY = offset(PARAMETER, "key");
  public static final long PARAMETER_VALUE = offset(PARAMETER, "value");

  public static final StructLayout LINK =
      structLayout(JAVA_INT.withName("position"), JAVA_INT.withName("value"));

  public static final long LINK_POSITION = offset(LINK, "position");
  public static final long LINK_VALUE = offset(LINK, "value");

  public static final StructLayout STEP =
      structLayout(
          JAVA_LONG.withName("model"),
          JAVA_LONG.withName("inputs"),
          JAVA_LONG.withName("outputs"),
          JAVA_INT.withName("input_count"),
          JAVA_INT.withName("output_count"));

  public static final long STEP_MODEL = offset(STEP, "model");
  public static final long STEP_INPUTS = offset(STEP, "inputs");
  public static final long STEP_OUTPUTS = offset(STEP, "outputs");
  public static final long STEP_INPUT_COUNT = offset(STEP, "input_count");
  public static final long STEP_OUTPUT_COUNT = offset(STEP, "output_count");

  public static final StructLayout MODEL_OPTIONS =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("flags"),
          STRING.withName("name"),
          STRING.withName("version"),
          JAVA_LONG.withName("backend"),
          JAVA_LONG.withName("inputs"),
          JAVA_LONG.withName("outputs"),
          JAVA_INT.withName("input_count"),
          JAVA_INT.withName("output_count"),
          JAVA_LONG.withName("max_batch_size"),
          JAVA_INT.withName("instance_count"),
          JAVA_INT.withName("preferred_batch_size_count"),
          JAVA_LONG.withName("preferred_batch_sizes"),
          JAVA_LONG.withName("max_queue_delay_ns"),
          JAVA_LONG.withName("inline_budget_ns"),
          QUEUE_POLICY.withName("default_queue_policy"),
          JAVA_INT.withName("priority_levels"),
          JAVA_INT.withName("default_priority_level"),
          JAVA_LONG.withName("level_queue_policies"),
          JAVA_LONG.withName("parameters"),
          JAVA_LONG.withName("parameter_count"),
          JAVA_LONG.withName("steps"),
          JAVA_LONG.withName("output_values"),
          JAVA_INT.withName("step_count"),
          JAVA_INT.withName("value_count"));

  public static final long MODEL_FLAGS = offset(MODEL_OPTIONS, "flags");
  public static final long MODEL_NAME = offset(MODEL_OPTIONS, "name");
  public static final long MODEL_VERSION = offset(MODEL_OPTIONS, "version");
  public static final long MODEL_BACKEND = offset(MODEL_OPTIONS, "backend");
  public static final long MODEL_INPUTS = offset(MODEL_OPTIONS, "inputs");
  public static final long MODEL_OUTPUTS = offset(MODEL_OPTIONS, "outputs");
  public static final long MODEL_INPUT_COUNT = offset(MODEL_OPTIONS, "input_count");
  public static final long MODEL_OUTPUT_COUNT = offset(MODEL_OPTIONS, "output_count");
  public static final long MODEL_MAX_BATCH_SIZE = offset(MODEL_OPTIONS, "max_batch_size");
  public static final long MODEL_INSTANCE_COUNT = offset(MODEL_OPTIONS, "instance_count");
  public static final long MODEL_PREFERRED_COUNT =
      offset(MODEL_OPTIONS, "preferred_batch_size_count");
  public static final long MODEL_PREFERRED_SIZES = offset(MODEL_OPTIONS, "preferred_batch_sizes");
  public static final long MODEL_MAX_QUEUE_DELAY_NS = offset(MODEL_OPTIONS, "max_queue_delay_ns");
  public static final long MODEL_INLINE_BUDGET_NS = offset(MODEL_OPTIONS, "inline_budget_ns");
  public static final long MODEL_DEFAULT_POLICY = offset(MODEL_OPTIONS, "default_queue_policy");
  public static final long MODEL_PRIORITY_LEVELS = offset(MODEL_OPTIONS, "priority_levels");
  public static final long MODEL_DEFAULT_PRIORITY = offset(MODEL_OPTIONS, "default_priority_level");
  public static final long MODEL_LEVEL_POLICIES = offset(MODEL_OPTIONS, "level_queue_policies");
  public static final long MODEL_PARAMETERS = offset(MODEL_OPTIONS, "parameters");
  public static final long MODEL_PARAMETER_COUNT = offset(MODEL_OPTIONS, "parameter_count");
  public static final long MODEL_STEPS = offset(MODEL_OPTIONS, "steps");
  public static final long MODEL_OUTPUT_VALUES = offset(MODEL_OPTIONS, "output_values");
  public static final long MODEL_STEP_COUNT = offset(MODEL_OPTIONS, "step_count");
  public static final long MODEL_VALUE_COUNT = offset(MODEL_OPTIONS, "value_count");

  public static final StructLayout BACKEND =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("flags"),
          JAVA_LONG.withName("context"),
          JAVA_LONG.withName("open_model"),
          JAVA_LONG.withName("describe"),
          JAVA_LONG.withName("configure"),
          JAVA_LONG.withName("memory_read"),
          JAVA_LONG.withName("open_instance"),
          JAVA_LONG.withName("execute"),
          JAVA_LONG.withName("close_instance"),
          JAVA_LONG.withName("close_model"));

  public static final long BACKEND_FLAGS = offset(BACKEND, "flags");
  public static final long BACKEND_CONTEXT = offset(BACKEND, "context");
  public static final long BACKEND_OPEN_MODEL = offset(BACKEND, "open_model");
  public static final long BACKEND_MEMORY_READ = offset(BACKEND, "memory_read");
  public static final long BACKEND_OPEN_INSTANCE = offset(BACKEND, "open_instance");
  public static final long BACKEND_EXECUTE = offset(BACKEND, "execute");
  public static final long BACKEND_CLOSE_INSTANCE = offset(BACKEND, "close_instance");
  public static final long BACKEND_CLOSE_MODEL = offset(BACKEND, "close_model");

  public static final StructLayout RUNTIME_OPTIONS =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("flags"),
          JAVA_LONG.withName("pool_byte_limit"),
          JAVA_LONG.withName("pool_chunk_bytes"),
          JAVA_LONG.withName("cache_byte_limit"),
          JAVA_LONG.withName("allocator_context"),
          JAVA_LONG.withName("allocate"),
          JAVA_LONG.withName("deallocate"),
          JAVA_LONG.withName("complete_context"),
          JAVA_LONG.withName("complete"),
          JAVA_LONG.withName("respond_context"),
          JAVA_LONG.withName("respond"),
          JAVA_LONG.withName("log_context"),
          JAVA_LONG.withName("log"));

  /** {@code NRD_RUNTIME_STAGE_HISTOGRAMS}. */
  public static final int RUNTIME_STAGE_HISTOGRAMS = 1;

  /** {@code NRD_RUNTIME_POISON_FREED}. */
  public static final int RUNTIME_POISON_FREED = 2;

  public static final long RUNTIME_FLAGS = offset(RUNTIME_OPTIONS, "flags");
  public static final long RUNTIME_POOL_BYTE_LIMIT = offset(RUNTIME_OPTIONS, "pool_byte_limit");
  public static final long RUNTIME_CACHE_BYTE_LIMIT = offset(RUNTIME_OPTIONS, "cache_byte_limit");
  public static final long RUNTIME_ALLOCATOR_CONTEXT = offset(RUNTIME_OPTIONS, "allocator_context");
  public static final long RUNTIME_ALLOCATE = offset(RUNTIME_OPTIONS, "allocate");
  public static final long RUNTIME_DEALLOCATE = offset(RUNTIME_OPTIONS, "deallocate");
  public static final long RUNTIME_COMPLETE_CONTEXT = offset(RUNTIME_OPTIONS, "complete_context");
  public static final long RUNTIME_COMPLETE = offset(RUNTIME_OPTIONS, "complete");
  public static final long RUNTIME_RESPOND_CONTEXT = offset(RUNTIME_OPTIONS, "respond_context");
  public static final long RUNTIME_RESPOND = offset(RUNTIME_OPTIONS, "respond");
  public static final long RUNTIME_LOG = offset(RUNTIME_OPTIONS, "log");

  private ModelLayout() {}
}
