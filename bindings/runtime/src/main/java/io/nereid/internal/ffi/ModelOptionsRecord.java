package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.Checks;
import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.model.SequenceBatching;
import io.nereid.model.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A {@link ModelSpec} as {@code nrd_model_options}, with all that belongs to it in the memory of
 * one arena, which must stay open until the core has read it.
 */
public final class ModelOptionsRecord {

  /** A step of an ensemble, and how its model's tensors are joined with those of the graph. */
  public record Step(ModelHandle model, List<Link> inputs, List<Link> outputs) {}

  /** Joins an input or output of a step's model with a tensor of the graph. */
  public record Link(int position, int value) {}

  // NRD_MODEL_*
  private static final int NO_INLINE = 1;
  private static final int DYNAMIC_BATCHING = 2;
  private static final int PRESERVE_ORDERING = 4;
  private static final int RESPONSE_CACHE = 8;
  private static final int DECOUPLED = 16;

  static final StructLayout QUEUE_POLICY =
      Memory.struct(
              "long default_timeout_ns; int timeout_action, allow_timeout_override, "
                  + "max_queue_size, reserved")
          .withName("queue_policy");

  static final StructLayout PARAMETER = Memory.struct("string key, value");

  static final StructLayout LINK = Memory.struct("int position, value");

  static final StructLayout STEP =
      Memory.struct("long model, inputs, outputs; int input_count, output_count");

  static final StructLayout COMBINED_INPUT = Memory.struct("int input, kind, source, reserved");

  static final StructLayout SCATTERED_OUTPUT = Memory.struct("int output, kind, source, reserved");

  /** {@code nrd_batcher}: says which requests go together. */
  public static final StructLayout BATCHER = Memory.struct("long context, includes");

  static final StructLayout LAYOUT =
      Memory.struct(
          "int struct_size, flags; string name, version; long backend, inputs, outputs; "
              + "int input_count, output_count; long max_batch_size; int instance_count, "
              + "preferred_batch_size_count; long preferred_batch_sizes, max_queue_delay_ns, "
              + "inline_budget_ns; queue_policy default_queue_policy; int priority_levels, "
              + "default_priority_level; long level_queue_policies, parameters, parameter_count, "
              + "steps, output_values; int step_count, value_count; long sequences, "
              + "combined_inputs, scattered_outputs; int combined_input_count, "
              + "scattered_output_count; long instances, batcher; int max_inflight_requests, "
              + "reserved; long objective",
          QUEUE_POLICY);

  private final Arena arena;
  private final MemorySegment record;

  private ModelOptionsRecord(Arena arena) {
    this.arena = arena;
    record = Memory.sized(arena, LAYOUT);
  }

  long address() {
    return record.address();
  }

  /**
   * The options of a model in memory of the arena.
   *
   * @param backend the backend that executes the model; null for an ensemble
   * @param parameters the backend's parameters
   */
  public static ModelOptionsRecord write(
      Arena arena,
      ModelSpec spec,
      int instanceCount,
      BackendRecord backend,
      Map<String, String> parameters) {
    ModelOptionsRecord options = new ModelOptionsRecord(arena);
    options.write(spec);
    options.set("backend", backend == null ? 0 : backend.address());
    options.set("instance_count", instanceCount);
    options.parameters(parameters);
    return options;
  }

  /** The parameters among options at an address that other code wrote. */
  static Map<String, String> readParameters(long options) {
    Map<String, String> parameters = new HashMap<>();
    long first = Memory.readLong(options + offset(LAYOUT, "parameters"));
    long count = Memory.readLong(options + offset(LAYOUT, "parameter_count"));
    for (long at = first; at < first + count * PARAMETER.byteSize(); at += PARAMETER.byteSize()) {
      parameters.put(
          TensorSpecRecord.readString(at + offset(PARAMETER, "key")),
          TensorSpecRecord.readString(at + offset(PARAMETER, "value")));
    }
    return parameters;
  }

  private void write(ModelSpec spec) {
    Optional<DynamicBatching> batching = spec.dynamicBatching();
    set("flags", flags(spec));
    TensorSpecRecord.string(arena, record, offset(LAYOUT, "name"), spec.name());
    String version = Long.toString(spec.version());
    TensorSpecRecord.string(arena, record, offset(LAYOUT, "version"), version);
    ModelSpec all = spec.forBackend();
    set("inputs", TensorSpecRecord.write(arena, all.inputs(), spec.inputs().size()));
    set("outputs", TensorSpecRecord.write(arena, all.outputs(), spec.outputs().size()));
    set("input_count", all.inputs().size());
    set("output_count", all.outputs().size());
    combinedInputs(all);
    scatteredOutputs(all);
    set("max_batch_size", spec.maxBatchSize());
    set("inline_budget_ns", Checks.nanos(spec.inlineBudget()));
    policy(
        record.asSlice(offset(LAYOUT, "default_queue_policy"), QUEUE_POLICY),
        batching.map(DynamicBatching::defaultQueuePolicy).orElse(QueuePolicy.DEFAULT));
    batching.ifPresent(this::batching);
    spec.sequenceBatching().ifPresent(sequences -> sequences(all, sequences));
  }

  private void set(String field, int value) {
    record.set(JAVA_INT, offset(LAYOUT, field), value);
  }

  private void set(String field, long value) {
    record.set(JAVA_LONG, offset(LAYOUT, field), value);
  }

  private static int flags(ModelSpec spec) {
    Optional<DynamicBatching> batching = spec.dynamicBatching();
    boolean ordered =
        batching.map(DynamicBatching::preserveOrdering).orElse(false)
            || spec.sequenceBatching().map(ModelOptionsRecord::isOrdered).orElse(false);
    return (spec.inline() ? 0 : NO_INLINE)
        | (spec.responseCache() ? RESPONSE_CACHE : 0)
        | (spec.decoupled() ? DECOUPLED : 0)
        | (batching.isPresent() ? DYNAMIC_BATCHING : 0)
        | (ordered ? PRESERVE_ORDERING : 0);
  }

  private static boolean isOrdered(SequenceBatching sequences) {
    return sequences.strategy() instanceof SequenceBatching.Oldest oldest
        && oldest.preserveOrdering();
  }

  private void sequences(ModelSpec spec, SequenceBatching sequences) {
    if (sequences.strategy() instanceof SequenceBatching.Oldest oldest) {
      preferredSizes(oldest.preferredBatchSizes());
    }
    set("max_queue_delay_ns", Checks.nanos(sequences.strategy().maxQueueDelay()));
    set("sequences", SequenceOptionsRecord.write(arena, spec, sequences));
  }

  private void preferredSizes(List<Integer> preferred) {
    MemorySegment sizes = arena.allocate(JAVA_LONG, preferred.size());
    for (int i = 0; i < preferred.size(); i++) {
      sizes.setAtIndex(JAVA_LONG, i, preferred.get(i));
    }
    set("preferred_batch_size_count", preferred.size());
    set("preferred_batch_sizes", sizes.address());
  }

  private void batching(DynamicBatching batching) {
    preferredSizes(batching.preferredBatchSizes());
    set("max_queue_delay_ns", Checks.nanos(batching.maxQueueDelay()));
    int levels = batching.priorityLevels();
    set("priority_levels", levels);
    set("default_priority_level", batching.defaultPriorityLevel());
    if (levels > 0) {
      MemorySegment policies = arena.allocate(QUEUE_POLICY, levels);
      for (int level = 1; level <= levels; level++) {
        policy(
            policies.asSlice((level - 1) * QUEUE_POLICY.byteSize(), QUEUE_POLICY),
            batching.levelQueuePolicies().getOrDefault(level, batching.defaultQueuePolicy()));
      }
      set("level_queue_policies", policies.address());
    }
  }

  private void combinedInputs(ModelSpec spec) {
    List<BatchInput> inputs = spec.batchInputs();
    int count = inputs.stream().mapToInt(input -> input.targets().size()).sum();
    MemorySegment array = arena.allocate(COMBINED_INPUT, count);
    long at = 0;
    for (BatchInput input : inputs) {
      for (String target : input.targets()) {
        array.set(JAVA_INT, at + offset(COMBINED_INPUT, "input"), position(target, spec.inputs()));
        array.set(JAVA_INT, at + offset(COMBINED_INPUT, "kind"), input.kind().ordinal());
        array.set(
            JAVA_INT,
            at + offset(COMBINED_INPUT, "source"),
            position(input.source(), spec.inputs()));
        at += COMBINED_INPUT.byteSize();
      }
    }
    set("combined_inputs", array.address());
    set("combined_input_count", count);
  }

  private void scatteredOutputs(ModelSpec spec) {
    List<BatchOutput> outputs = spec.batchOutputs();
    int count = outputs.stream().mapToInt(output -> output.targets().size()).sum();
    MemorySegment array = arena.allocate(SCATTERED_OUTPUT, count);
    long at = 0;
    for (BatchOutput output : outputs) {
      for (String target : output.targets()) {
        array.set(
            JAVA_INT, at + offset(SCATTERED_OUTPUT, "output"), position(target, spec.outputs()));
        array.set(
            JAVA_INT,
            at + offset(SCATTERED_OUTPUT, "source"),
            position(output.source(), spec.inputs()));
        at += SCATTERED_OUTPUT.byteSize();
      }
    }
    set("scattered_outputs", array.address());
    set("scattered_output_count", count);
  }

  private static int position(String name, List<TensorSpec> tensors) {
    for (int i = 0; i < tensors.size(); i++) {
      if (tensors.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("the model has no tensor '" + name + "'");
  }

  private static void policy(MemorySegment target, QueuePolicy policy) {
    boolean delay = policy.timeoutAction() == QueuePolicy.TimeoutAction.DELAY;
    target.set(
        JAVA_LONG,
        offset(QUEUE_POLICY, "default_timeout_ns"),
        Checks.nanos(policy.defaultTimeout()));
    target.set(JAVA_INT, offset(QUEUE_POLICY, "timeout_action"), delay ? 1 : 0);
    target.set(
        JAVA_INT,
        offset(QUEUE_POLICY, "allow_timeout_override"),
        policy.allowTimeoutOverride() ? 1 : 0);
    target.set(JAVA_INT, offset(QUEUE_POLICY, "max_queue_size"), policy.maxQueueSize());
  }

  private void parameters(Map<String, String> parameters) {
    set("parameters", parameters(arena, parameters).address());
    set("parameter_count", (long) parameters.size());
  }

  /** An array of {@code nrd_parameter} in memory of the arena. */
  public static MemorySegment parameters(Arena arena, Map<String, String> parameters) {
    MemorySegment array = arena.allocate(PARAMETER, parameters.size());
    long at = 0;
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      long key = at + offset(PARAMETER, "key");
      TensorSpecRecord.string(arena, array, key, parameter.getKey());
      long value = at + offset(PARAMETER, "value");
      TensorSpecRecord.string(arena, array, value, parameter.getValue());
      at += PARAMETER.byteSize();
    }
    return array;
  }

  /** Adds the batcher with this number, as {@link BatcherUpcalls} knows it; 0: none. */
  public void batcher(long number) {
    if (number != 0) {
      MemorySegment batcher = arena.allocate(BATCHER);
      batcher.set(JAVA_LONG, offset(BATCHER, "context"), number);
      batcher.set(JAVA_LONG, offset(BATCHER, "includes"), BatcherUpcalls.INCLUDES);
      useBatcher(batcher);
    }
  }

  /** Adds a {@link #BATCHER}, in memory that lives as long as the options. */
  public void useBatcher(MemorySegment batcher) {
    set("batcher", batcher.address());
  }

  /**
   * Adds the graph of an ensemble.
   *
   * @param steps in an order in which they can be executed
   * @param valueCount the number of tensors in the graph
   * @param outputs which of them are the ensemble's outputs
   * @param maxInflight the most responses of a decoupled step under way; 0: any number
   */
  public void graph(List<Step> steps, int valueCount, int[] outputs, int maxInflight) {
    set("max_inflight_requests", maxInflight);
    MemorySegment array = arena.allocate(STEP, steps.size());
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      MemorySegment target = array.asSlice(i * STEP.byteSize(), STEP);
      target.set(JAVA_LONG, offset(STEP, "model"), step.model().address());
      target.set(JAVA_LONG, offset(STEP, "inputs"), links(step.inputs()));
      target.set(JAVA_INT, offset(STEP, "input_count"), step.inputs().size());
      target.set(JAVA_LONG, offset(STEP, "outputs"), links(step.outputs()));
      target.set(JAVA_INT, offset(STEP, "output_count"), step.outputs().size());
    }
    set("steps", array.address());
    set("step_count", steps.size());
    set("value_count", valueCount);
    set("output_values", arena.allocateFrom(JAVA_INT, outputs).address());
  }

  /** Adds the records of the instances, in their order: all of them, or none. */
  public void instances(List<InstanceRecord> instances) {
    set("instances", instances.isEmpty() ? 0 : InstanceRecord.write(arena, instances));
  }

  /** Adds the time within which the model is to answer. */
  public void objective(ObjectiveRecord.Given given) {
    set("objective", ObjectiveRecord.write(arena, given));
  }

  private long links(List<Link> links) {
    MemorySegment array = arena.allocate(LINK, links.size());
    for (int i = 0; i < links.size(); i++) {
      long at = i * LINK.byteSize();
      array.set(JAVA_INT, at + offset(LINK, "position"), links.get(i).position());
      array.set(JAVA_INT, at + offset(LINK, "value"), links.get(i).value());
    }
    return array.address();
  }
}
