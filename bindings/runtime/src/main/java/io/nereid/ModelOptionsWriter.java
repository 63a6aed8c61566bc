package io.nereid;

import static io.nereid.internal.ffi.ModelLayout.MODEL_BACKEND;
import static io.nereid.internal.ffi.ModelLayout.MODEL_DECOUPLED;
import static io.nereid.internal.ffi.ModelLayout.MODEL_DEFAULT_POLICY;
import static io.nereid.internal.ffi.ModelLayout.MODEL_DEFAULT_PRIORITY;
import static io.nereid.internal.ffi.ModelLayout.MODEL_DYNAMIC_BATCHING;
import static io.nereid.internal.ffi.ModelLayout.MODEL_FLAGS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_INLINE_BUDGET_NS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_INPUTS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_INPUT_COUNT;
import static io.nereid.internal.ffi.ModelLayout.MODEL_INSTANCE_COUNT;
import static io.nereid.internal.ffi.ModelLayout.MODEL_LEVEL_POLICIES;
import static io.nereid.internal.ffi.ModelLayout.MODEL_MAX_BATCH_SIZE;
import static io.nereid.internal.ffi.ModelLayout.MODEL_MAX_QUEUE_DELAY_NS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_NAME;
import static io.nereid.internal.ffi.ModelLayout.MODEL_NO_INLINE;
import static io.nereid.internal.ffi.ModelLayout.MODEL_OPTIONS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_OUTPUTS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_OUTPUT_COUNT;
import static io.nereid.internal.ffi.ModelLayout.MODEL_PARAMETERS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_PARAMETER_COUNT;
import static io.nereid.internal.ffi.ModelLayout.MODEL_PREFERRED_COUNT;
import static io.nereid.internal.ffi.ModelLayout.MODEL_PREFERRED_SIZES;
import static io.nereid.internal.ffi.ModelLayout.MODEL_PRESERVE_ORDERING;
import static io.nereid.internal.ffi.ModelLayout.MODEL_PRIORITY_LEVELS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_RESPONSE_CACHE;
import static io.nereid.internal.ffi.ModelLayout.MODEL_VERSION;
import static io.nereid.internal.ffi.ModelLayout.PARAMETER;
import static io.nereid.internal.ffi.ModelLayout.PARAMETER_KEY;
import static io.nereid.internal.ffi.ModelLayout.PARAMETER_VALUE;
import static io.nereid.internal.ffi.ModelLayout.POLICY_ALLOW_OVERRIDE;
import static io.nereid.internal.ffi.ModelLayout.POLICY_DEFAULT_TIMEOUT_NS;
import static io.nereid.internal.ffi.ModelLayout.POLICY_MAX_QUEUE_SIZE;
import static io.nereid.internal.ffi.ModelLayout.POLICY_TIMEOUT_ACTION;
import static io.nereid.internal.ffi.ModelLayout.QUEUE_POLICY;
import static io.nereid.internal.ffi.ModelLayout.SPEC_OPTIONAL;
import static io.nereid.internal.ffi.ModelLayout.SPEC_RESHAPE;
import static io.nereid.internal.ffi.ModelLayout.STRING_DATA;
import static io.nereid.internal.ffi.ModelLayout.STRING_SIZE;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_DATATYPE;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_DIMS;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_FLAGS;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_NAME;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_RANK;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_RESHAPE;
import static io.nereid.internal.ffi.ModelLayout.TENSOR_SPEC_RESHAPE_RANK;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.Checks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes a {@link ModelSpec} as {@code nrd_model_options}; everything lives in one arena. */
final class ModelOptionsWriter {

  private final Arena arena;

  private ModelOptionsWriter(Arena arena) {
    this.arena = arena;
  }

  static MemorySegment write(
      Arena arena,
      ModelSpec spec,
      int instanceCount,
      long backend,
      Map<String, String> parameters) {
    return new ModelOptionsWriter(arena).options(spec, instanceCount, backend, parameters);
  }

  private MemorySegment options(
      ModelSpec spec, int instanceCount, long backend, Map<String, String> parameters) {
    MemorySegment options = struct(MODEL_OPTIONS);
    Optional<DynamicBatching> batching = spec.dynamicBatching();
    options.set(JAVA_INT, MODEL_FLAGS, flags(spec));
    string(options, MODEL_NAME, spec.name());
    string(options, MODEL_VERSION, Long.toString(spec.version()));
    options.set(JAVA_LONG, MODEL_BACKEND, backend);
    options.set(JAVA_LONG, MODEL_INPUTS, tensorSpecs(spec.inputs()));
    options.set(JAVA_LONG, MODEL_OUTPUTS, tensorSpecs(spec.outputs()));
    options.set(JAVA_INT, MODEL_INPUT_COUNT, spec.inputs().size());
    options.set(JAVA_INT, MODEL_OUTPUT_COUNT, spec.outputs().size());
    options.set(JAVA_LONG, MODEL_MAX_BATCH_SIZE, spec.maxBatchSize());
    options.set(JAVA_INT, MODEL_INSTANCE_COUNT, instanceCount);
    options.set(JAVA_LONG, MODEL_INLINE_BUDGET_NS, Checks.nanos(spec.inlineBudget()));
    policy(
        options.asSlice(MODEL_DEFAULT_POLICY, QUEUE_POLICY),
        batching.map(DynamicBatching::defaultQueuePolicy).orElse(QueuePolicy.DEFAULT));
    batching.ifPresent(value -> batching(options, value));
    options.set(JAVA_LONG, MODEL_PARAMETERS, parameters(parameters));
    options.set(JAVA_LONG, MODEL_PARAMETER_COUNT, parameters.size());
    return options;
  }

  private static int flags(ModelSpec spec) {
    int flags = 0;
    if (!spec.inline()) {
      flags |= MODEL_NO_INLINE;
    }
    if (spec.responseCache()) {
      flags |= MODEL_RESPONSE_CACHE;
    }
    if (spec.decoupled()) {
      flags |= MODEL_DECOUPLED;
    }
    if (spec.dynamicBatching().isPresent()) {
      flags |= MODEL_DYNAMIC_BATCHING;
      if (spec.dynamicBatching().get().preserveOrdering()) {
        flags |= MODEL_PRESERVE_ORDERING;
      }
    }
    return flags;
  }

  private void batching(MemorySegment options, DynamicBatching batching) {
    List<Integer> preferred = batching.preferredBatchSizes();
    MemorySegment sizes = arena.allocate(JAVA_LONG, preferred.size());
    for (int i = 0; i < preferred.size(); i++) {
      sizes.setAtIndex(JAVA_LONG, i, preferred.get(i));
    }
    options.set(JAVA_INT, MODEL_PREFERRED_COUNT, preferred.size());
    options.set(JAVA_LONG, MODEL_PREFERRED_SIZES, sizes.address());
    options.set(JAVA_LONG, MODEL_MAX_QUEUE_DELAY_NS, Checks.nanos(batching.maxQueueDelay()));
    int levels = batching.priorityLevels();
    options.set(JAVA_INT, MODEL_PRIORITY_LEVELS, levels);
    options.set(JAVA_INT, MODEL_DEFAULT_PRIORITY, batching.defaultPriorityLevel());
    if (levels > 0) {
      MemorySegment policies = arena.allocate(QUEUE_POLICY, levels);
      for (int level = 1; level <= levels; level++) {
        long offset = (level - 1) * QUEUE_POLICY.byteSize();
        policy(
            policies.asSlice(offset, QUEUE_POLICY),
            batching.levelQueuePolicies().getOrDefault(level, batching.defaultQueuePolicy()));
      }
      options.set(JAVA_LONG, MODEL_LEVEL_POLICIES, policies.address());
    }
  }

  private static void policy(MemorySegment target, QueuePolicy policy) {
    boolean delay = policy.timeoutAction() == QueuePolicy.TimeoutAction.DELAY;
    target.set(JAVA_LONG, POLICY_DEFAULT_TIMEOUT_NS, Checks.nanos(policy.defaultTimeout()));
    target.set(JAVA_INT, POLICY_TIMEOUT_ACTION, delay ? 1 : 0);
    target.set(JAVA_INT, POLICY_ALLOW_OVERRIDE, policy.allowTimeoutOverride() ? 1 : 0);
    target.set(JAVA_INT, POLICY_MAX_QUEUE_SIZE, policy.maxQueueSize());
  }

  private long tensorSpecs(List<TensorSpec> tensors) {
    MemorySegment specs = arena.allocate(TENSOR_SPEC, tensors.size());
    for (int i = 0; i < tensors.size(); i++) {
      TensorSpec tensor = tensors.get(i);
      MemorySegment target = specs.asSlice(i * TENSOR_SPEC.byteSize(), TENSOR_SPEC);
      string(target, TENSOR_SPEC_NAME, tensor.name());
      target.set(JAVA_INT, TENSOR_SPEC_DATATYPE, tensor.dataType().code());
      target.set(JAVA_INT, TENSOR_SPEC_RANK, tensor.dims().size());
      int flags = tensor.optional() ? SPEC_OPTIONAL : 0;
      target.set(
          JAVA_INT, TENSOR_SPEC_FLAGS, flags | (tensor.reshape().isPresent() ? SPEC_RESHAPE : 0));
      for (int dim = 0; dim < tensor.dims().size(); dim++) {
        target.set(JAVA_LONG, TENSOR_SPEC_DIMS + (long) dim * Long.BYTES, tensor.dims().get(dim));
      }
      if (tensor.reshape().isPresent()) {
        reshape(target, tensor.reshape().get());
      }
    }
    return specs.address();
  }

  private static void reshape(MemorySegment target, List<Long> dims) {
    target.set(JAVA_INT, TENSOR_SPEC_RESHAPE_RANK, dims.size());
    for (int i = 0; i < dims.size(); i++) {
      target.set(JAVA_LONG, TENSOR_SPEC_RESHAPE + (long) i * Long.BYTES, dims.get(i));
    }
  }

  private long parameters(Map<String, String> parameters) {
    MemorySegment array = arena.allocate(PARAMETER, parameters.size());
    long offset = 0;
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      string(array, offset + PARAMETER_KEY, parameter.getKey());
      string(array, offset + PARAMETER_VALUE, parameter.getValue());
      offset += PARAMETER.byteSize();
    }
    return array.address();
  }

  private void string(MemorySegment target, long offset, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    target.set(JAVA_LONG, offset + STRING_DATA, arena.allocateFrom(JAVA_BYTE, bytes).address());
    target.set(JAVA_LONG, offset + STRING_SIZE, bytes.length);
  }

  private MemorySegment struct(StructLayout layout) {
    return sized(arena, layout);
  }

  /** A cleared struct whose first field says its size. */
  static MemorySegment sized(Arena arena, StructLayout layout) {
    MemorySegment struct = arena.allocate(layout);
    struct.set(JAVA_INT, 0, Math.toIntExact(layout.byteSize()));
    return struct;
  }
}
