package io.nereid.internal.model;

import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.ModelOptionsRecord.Link;
import io.nereid.internal.request.Signature;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Checks an ensemble's graph and prepares it for the core: steps in an executable order, numbers in
 * place of names. No ensemble may contain itself, and the tensors that steps make must fit the
 * steps that take them. The core also checks, for decoupled steps, that the inputs of a step come
 * equally often.
 */
public final class EnsembleGraph {

  private record Step(LoadedModel model, List<Link> inputs, List<Link> outputs) {}

  /**
   * A tensor as one end of a link declares it; for an ensemble's own tensor, as the steps see it.
   */
  private record Kind(DataType dataType, List<Long> dims, boolean batched) {

    static Kind ofStep(ModelSpec model, TensorSpec tensor) {
      return new Kind(tensor.dataType(), tensor.dims(), model.maxBatchSize() > 0);
    }

    static Kind ofEnsemble(ModelSpec ensemble, TensorSpec tensor) {
      List<Long> dims = tensor.reshape().orElse(tensor.dims());
      return new Kind(tensor.dataType(), dims, ensemble.maxBatchSize() > 0);
    }

    /**
     * True if the two tensors fit. If one side batches and the other does not, they may fit with or
     * without the batch dimension.
     */
    boolean agrees(Kind other) {
      return dataType == other.dataType
          && (agree(dims, other.dims) || agree(shape(), other.shape()));
    }

    private static boolean agree(List<Long> made, List<Long> wanted) {
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

    private List<Long> shape() {
      List<Long> shape = new ArrayList<>(dims);
      if (batched) {
        shape.addFirst(-1L);
      }
      return shape;
    }

    @Override
    public String toString() {
      return dataType + " " + shape();
    }
  }

  /** A tensor of the graph, as its maker declares it. */
  private record Value(int number, Kind kind, String maker) {}

  /** The most steps of a request, including those of ensembles among the steps. */
  static final int MAX_STEPS = 1024;

  private final ModelSpec spec;
  private final Map<String, Value> values = new LinkedHashMap<>();
  private final List<Step> steps = new ArrayList<>();

  private EnsembleGraph(ModelSpec spec) {
    this.spec = spec;
  }

  /**
   * The plan of an ensemble.
   *
   * @param models the models of its steps, in order
   * @throws NereidException with the tensor's name, when the graph cannot work
   */
  static EnsembleGraph of(ModelSpec spec, List<LoadedModel> models) {
    EnsembleGraph plan = new EnsembleGraph(spec);
    plan.checkCount(models);
    List<Ensemble.Step> steps = spec.ensemble().orElseThrow().steps();
    for (TensorSpec input : spec.inputs()) {
      plan.addValue(input.name(), Kind.ofEnsemble(spec, input), "the ensemble's input");
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

  // ---- No ensemble needs itself ---------------------------------------------------------------

  /**
   * Throws when an ensemble would be a step of itself, at whatever depth.
   *
   * @param current finds the load that takes requests for a step now; null: none does
   */
  static void checkAcyclic(
      ModelId ensemble, List<Ensemble.Step> steps, Function<Ensemble.Step, LoadedModel> current) {
    for (Ensemble.Step step : steps) {
      LoadedModel used = current.apply(step);
      boolean itself = step.model().equals(ensemble.key());
      if (itself || (used != null && uses(used, ensemble.key(), new HashSet<>()))) {
        throw Signature.invalid("ensemble '" + ensemble.name() + "' is a step of itself");
      }
    }
  }

  private static boolean uses(LoadedModel loaded, String key, Set<LoadedModel> seen) {
    return seen.add(loaded)
        && (loaded.ensembleSteps().stream().anyMatch(step -> step.model().equals(key))
            || loaded.steps().stream().anyMatch(step -> uses(step, key, seen)));
  }

  /**
   * True if a model that is not loaded yet contains itself.
   *
   * @param steps the models that each one needs, by their keys; none for one that is not known
   */
  public static boolean needsItself(String key, Function<String, Set<String>> steps) {
    return reaches(key, key, steps, new HashSet<>());
  }

  private static boolean reaches(
      String from, String to, Function<String, Set<String>> steps, Set<String> seen) {
    Set<String> next = seen.add(from) ? steps.apply(from) : Set.of();
    return next.contains(to) || next.stream().anyMatch(step -> reaches(step, to, steps, seen));
  }

  // ---- Outputs of steps fit inputs of others --------------------------------------------------

  private void checkCount(List<LoadedModel> models) {
    long count = models.stream().mapToLong(EnsembleGraph::count).sum();
    if (count > MAX_STEPS) {
      throw invalid(
          "expected at most %s steps, those of ensembles among them counted as well, got %s"
              .formatted(MAX_STEPS, count));
    }
  }

  /** The recursion is bounded, because every loaded ensemble is acyclic. */
  private static long count(LoadedModel model) {
    return 1 + model.steps().stream().mapToLong(EnsembleGraph::count).sum();
  }

  /**
   * Gives an ensemble's outputs without labels the labels of the steps' outputs that they come
   * from.
   */
  static ModelSpec labelled(ModelSpec spec, List<LoadedModel> models) {
    List<TensorSpec> outputs = new ArrayList<>();
    for (TensorSpec output : spec.outputs()) {
      boolean own = !output.labels().isEmpty();
      outputs.add(own ? output : output.withLabels(labels(spec, models, output.name())));
    }
    return spec.withOutputs(outputs);
  }

  private static List<String> labels(ModelSpec spec, List<LoadedModel> models, String tensor) {
    List<Ensemble.Step> steps = spec.ensemble().orElseThrow().steps();
    for (int i = 0; i < models.size(); i++) {
      Map<String, String> made = steps.get(i).outputs();
      for (TensorSpec from : models.get(i).spec().outputs()) {
        if (tensor.equals(made.get(from.name()))) {
          return from.labels();
        }
      }
    }
    return List.of();
  }

  private void addValue(String name, Kind kind, String maker) {
    Value before = values.get(name);
    if (before != null) {
      throw invalid("tensor '" + name + "' is made twice: as " + before.maker + " and as " + maker);
    }
    values.put(name, new Value(values.size(), kind, maker));
  }

  private void addOutputs(Ensemble.Step step, LoadedModel model) {
    ModelSpec made = model.spec();
    if (made.maxBatchSize() > 0 && spec.maxBatchSize() > made.maxBatchSize()) {
      throw invalid(
          "max_batch_size is %s, but step '%s' takes at most %s"
              .formatted(spec.maxBatchSize(), made.name(), made.maxBatchSize()));
    }
    step.outputs()
        .forEach((output, tensor) -> {
          TensorSpec from = made.outputs().get(position(made, "output", output));
          String maker = "output '" + output + "' of step '" + made.name() + "'";
          addValue(tensor, Kind.ofStep(made, from), maker);
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
        "step '%s' has no %s '%s', it has %s"
            .formatted(model.name(), what, name, tensors.stream().map(TensorSpec::name).toList()));
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
          Value value = use(tensor, Kind.ofStep(used, wanted), user);
          inputs.add(new Link(position, value.number));
        });
    List<Link> outputs = new ArrayList<>();
    step.outputs()
        .forEach((output, tensor) ->
            outputs.add(new Link(position(used, "output", output), values.get(tensor).number)));
    return new Step(model, inputs, outputs);
  }

  /** Returns a tensor that a step or output needs; throws if it is missing or of the wrong kind. */
  private Value use(String tensor, Kind wanted, String user) {
    Value value = values.get(tensor);
    if (value == null) {
      throw invalid(
          "tensor '%s', which is %s, is neither an input of the ensemble nor made by a step"
              .formatted(tensor, user));
    }
    if (!value.kind.agrees(wanted)) {
      throw invalid(
          "tensor '%s' is %s as %s, but %s is %s"
              .formatted(tensor, value.kind, value.maker, user, wanted));
    }
    return value;
  }

  private void checkOutputs() {
    for (TensorSpec output : spec.outputs()) {
      use(output.name(), Kind.ofEnsemble(spec, output), "the ensemble's output");
    }
  }

  /** Puts each step behind the steps that make its inputs. */
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
              .filter(step -> step.inputs.stream().allMatch(input -> made[input.value()]))
              .toList();
      if (ready.isEmpty()) {
        throw invalid("tensors depend on themselves: " + waitingFor(left, made));
      }
      for (Step step : ready) {
        step.outputs.forEach(output -> made[output.value()] = true);
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
              .anyMatch(input -> input.value() == value.number);
      if (needed && !made[value.number]) {
        names.add("'" + name + "'");
      }
    });
    return String.join(", ", names);
  }

  /** The exception for an ensemble whose step's model is not loaded. */
  static NereidException lacking(String ensemble, Ensemble.Step step) {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "ensemble '%s' needs model '%s', which is not loaded"
            .formatted(ensemble, ModelId.shown(step.model())));
  }

  private NereidException invalid(String text) {
    return Signature.invalid("ensemble '" + spec.name() + "': " + text);
  }

  /** Writes the graph into the options for the core. */
  void write(ModelOptionsRecord options) {
    options.graph(
        steps.stream()
            .map(
                step -> new ModelOptionsRecord.Step(step.model.handle(), step.inputs, step.outputs))
            .toList(),
        values.size(),
        spec.outputs().stream().mapToInt(output -> values.get(output.name()).number).toArray(),
        spec.ensemble().orElseThrow().maxInflightRequests());
  }
}
