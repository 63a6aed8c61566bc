package io.nereid;

import static io.nereid.internal.ffi.ModelLayout.LINK;
import static io.nereid.internal.ffi.ModelLayout.LINK_POSITION;
import static io.nereid.internal.ffi.ModelLayout.LINK_VALUE;
import static io.nereid.internal.ffi.ModelLayout.MODEL_OUTPUT_VALUES;
import static io.nereid.internal.ffi.ModelLayout.MODEL_STEPS;
import static io.nereid.internal.ffi.ModelLayout.MODEL_STEP_COUNT;
import static io.nereid.internal.ffi.ModelLayout.MODEL_VALUE_COUNT;
import static io.nereid.internal.ffi.ModelLayout.STEP;
import static io.nereid.internal.ffi.ModelLayout.STEP_INPUTS;
import static io.nereid.internal.ffi.ModelLayout.STEP_INPUT_COUNT;
import static io.nereid.internal.ffi.ModelLayout.STEP_MODEL;
import static io.nereid.internal.ffi.ModelLayout.STEP_OUTPUTS;
import static io.nereid.internal.ffi.ModelLayout.STEP_OUTPUT_COUNT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An ensemble's graph with its models: checked, in an order in which it can be executed, and with
 * numbers in place of names.
 */
final class EnsemblePlan {

  /** Joins an input or output of a step's model with a tensor of the graph. */
  private record Link(int position, int value) {}

  private record Step(LoadedModel model, List<Link> inputs, List<Link> outputs) {}

  /** A tensor of the graph, as the one says who makes it. */
  private record Value(int number, DataType dataType, List<Long> shape, String maker) {

    String describe() {
      return dataType + " " + shape;
    }
  }

  private final ModelSpec spec;
  private final Map<String, Value> values = new LinkedHashMap<>();
  private final List<Step> steps = new ArrayList<>();

  private EnsemblePlan(ModelSpec spec) {
    this.spec = spec;
  }

  /**
   * The plan of an ensemble.
   *
   * @param models of its steps, in their order
   * @throws NereidException with the tensor's name, when the graph cannot work
   */
  static EnsemblePlan of(ModelSpec spec, List<LoadedModel> models) {
    EnsemblePlan plan = new EnsemblePlan(spec);
    List<Ensemble.Step> steps = spec.ensemble().orElseThrow().steps();
    for (TensorSpec input : spec.inputs()) {
      plan.addValue(input.name(), input.dataType(), shape(spec, input), "the ensemble's input");
    }
    for (int i = 0; i < models.size(); i++) {
      plan.addOutputs(steps.get(i), models.get(i));
    }
    for (int i = 0; i < models.size(); i++) {
      plan.steps.add(plan.link(steps.get(i), models.get(i)));
    }
    plan.checkOutputs();
    plan.sort();
    return plan;
  }

  private static List<Long> shape(ModelSpec spec, TensorSpec tensor) {
    List<Long> shape = new ArrayList<>(tensor.dims());
    if (spec.maxBatchSize() > 0) {
      shape.addFirst(-1L);
    }
    return shape;
  }

  private void addValue(String name, DataType type, List<Long> shape, String maker) {
    Value before = values.get(name);
    if (before != null) {
      throw invalid("tensor '" + name + "' is made twice: as " + before.maker + " and as " + maker);
    }
    values.put(name, new Value(values.size(), type, shape, maker));
  }

  private void addOutputs(Ensemble.Step step, LoadedModel model) {
    ModelSpec made = model.spec();
    if (made.decoupled()) {
      throw invalid("step '" + made.name() + "' is decoupled: a step answers exactly once");
    }
    if (made.maxBatchSize() > 0 && spec.maxBatchSize() > made.maxBatchSize()) {
      throw invalid(
          "max_batch_size is "
              + spec.maxBatchSize()
              + ", but step '"
              + made.name()
              + "' takes at most "
              + made.maxBatchSize());
    }
    step.outputs()
        .forEach((output, tensor) -> {
          TensorSpec from = made.outputs().get(position(made, "output", output));
          String maker = "output '" + output + "' of step '" + made.name() + "'";
          addValue(tensor, from.dataType(), shape(made, from), maker);
        });
  }

  private int position(ModelSpec model, String what, String name) {
    List<TensorSpec> tensors = what.equals("input") ? model.inputs() : model.outputs();
    for (int i = 0; i < tensors.size(); i++) {
      if (tensors.get(i).name().equals(name)) {
        return i;
      }
    }
    throw invalid(
        "step '"
            + model.name()
            + "' has no "
            + what
            + " '"
            + name
            + "', it has "
            + tensors.stream().map(TensorSpec::name).toList());
  }

  private Step link(Ensemble.Step step, LoadedModel model) {
    ModelSpec used = model.spec();
    for (TensorSpec input : used.inputs()) {
      if (!input.optional() && !step.inputs().containsKey(input.name())) {
        throw invalid("step '" + used.name() + "' needs its input '" + input.name() + "'");
      }
    }
    List<Link> inputs = new ArrayList<>();
    step.inputs()
        .forEach((input, tensor) -> {
          int position = position(used, "input", input);
          TensorSpec wanted = used.inputs().get(position);
          String user = "input '" + input + "' of step '" + used.name() + "'";
          Value value = use(tensor, wanted.dataType(), shape(used, wanted), user);
          inputs.add(new Link(position, value.number));
        });
    List<Link> outputs = new ArrayList<>();
    step.outputs()
        .forEach((output, tensor) ->
            outputs.add(new Link(position(used, "output", output), values.get(tensor).number)));
    return new Step(model, inputs, outputs);
  }

  /** A tensor that is needed, which must be there and of the right kind. */
  private Value use(String tensor, DataType type, List<Long> shape, String user) {
    Value value = values.get(tensor);
    if (value == null) {
      throw invalid(
          "tensor '"
              + tensor
              + "', which is "
              + user
              + ", is neither an input of the ensemble nor made by a step");
    }
    if (value.dataType != type || !compatible(value.shape, shape)) {
      throw invalid(
          "tensor '"
              + tensor
              + "' is "
              + value.describe()
              + " as "
              + value.maker
              + ", but "
              + user
              + " is "
              + type
              + " "
              + shape);
    }
    return value;
  }

  private static boolean compatible(List<Long> made, List<Long> wanted) {
    if (made.size() != wanted.size()) {
      return false;
    }
    for (int i = 0; i < made.size(); i++) {
      if (made.get(i) >= 0 && wanted.get(i) >= 0 && !made.get(i).equals(wanted.get(i))) {
        return false;
      }
    }
    return true;
  }

  private void checkOutputs() {
    for (TensorSpec output : spec.outputs()) {
      use(output.name(), output.dataType(), shape(spec, output), "the ensemble's output");
    }
  }

  /** Puts each step behind those that make what it needs. */
  private void sort() {
    List<Step> left = new ArrayList<>(steps);
    boolean[] made = new boolean[values.size()];
    for (int i = 0; i < spec.inputs().size(); i++) {
      made[i] = true;
    }
    steps.clear();
    while (!left.isEmpty()) {
      List<Step> ready =
          left.stream()
              .filter(step -> step.inputs.stream().allMatch(input -> made[input.value]))
              .toList();
      if (ready.isEmpty()) {
        throw invalid("tensors depend on themselves: " + waitingFor(left, made));
      }
      for (Step step : ready) {
        step.outputs.forEach(output -> made[output.value] = true);
      }
      steps.addAll(ready);
      left.removeAll(ready);
    }
  }

  private String waitingFor(List<Step> left, boolean[] made) {
    List<String> names = new ArrayList<>();
    values.forEach((name, value) -> {
      boolean needed =
          left.stream()
              .flatMap(step -> step.inputs.stream())
              .anyMatch(input -> input.value == value.number);
      if (needed && !made[value.number]) {
        names.add("'" + name + "'");
      }
    });
    return String.join(", ", names);
  }

  private NereidException invalid(String text) {
    return Signature.invalid("ensemble '" + spec.name() + "': " + text);
  }

  /** Fills in what the core wants to know, in memory of the arena. */
  void write(Arena arena, MemorySegment options) {
    MemorySegment array = arena.allocate(STEP, steps.size());
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      MemorySegment target = array.asSlice(i * STEP.byteSize(), STEP);
      target.set(JAVA_LONG, STEP_MODEL, step.model.handle());
      target.set(JAVA_LONG, STEP_INPUTS, links(arena, step.inputs));
      target.set(JAVA_INT, STEP_INPUT_COUNT, step.inputs.size());
      target.set(JAVA_LONG, STEP_OUTPUTS, links(arena, step.outputs));
      target.set(JAVA_INT, STEP_OUTPUT_COUNT, step.outputs.size());
    }
    MemorySegment outputs = arena.allocate(JAVA_INT, spec.outputs().size());
    for (int i = 0; i < spec.outputs().size(); i++) {
      outputs.setAtIndex(JAVA_INT, i, values.get(spec.outputs().get(i).name()).number);
    }
    options.set(JAVA_LONG, MODEL_STEPS, array.address());
    options.set(JAVA_INT, MODEL_STEP_COUNT, steps.size());
    options.set(JAVA_INT, MODEL_VALUE_COUNT, values.size());
    options.set(JAVA_LONG, MODEL_OUTPUT_VALUES, outputs.address());
  }

  private static long links(Arena arena, List<Link> links) {
    MemorySegment array = arena.allocate(LINK, links.size());
    for (int i = 0; i < links.size(); i++) {
      array.set(JAVA_INT, i * LINK.byteSize() + LINK_POSITION, links.get(i).position);
      array.set(JAVA_INT, i * LINK.byteSize() + LINK_VALUE, links.get(i).value);
    }
    return array.address();
  }
}
