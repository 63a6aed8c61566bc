package io.nereid.internal.config;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.QueuePolicy;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelOptimizationPolicy;
import io.nereid.proto.ModelOptimizationPolicy.Cuda;
import io.nereid.proto.ModelParameter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the parameters for a backend: {@code parameters}, of which some are Nereid's own, and
 * {@code optimization}.
 */
final class ParameterReader {

  static final String MODEL_PATH = "model_path";

  /** Parameters with this prefix are Nereid's own. */
  private static final String OWN_PREFIX = "nereid.";

  private static final String OPTIMIZATION_PREFIX = "optimization.";

  static final String INLINE = OWN_PREFIX + "inline";
  static final String INLINE_BUDGET = OWN_PREFIX + "inline_budget_microseconds";

  static final String BATCHER = OWN_PREFIX + "batcher";

  static final String OBJECTIVE = OWN_PREFIX + "objective";

  /** The parameter that decides where the model's backend runs. */
  private static final String ISOLATION = "isolation";

  private static final String PLACES = "none|process(:.+)?";

  /** The parameter that makes a version a shadow of another, as VERSION=PRIMARY or PRIMARY. */
  static final String SHADOW = "shadow_of";

  private static final Pattern SHADOW_FORM =
      Pattern.compile("(?:([1-9][0-9]{0,17})=)?([1-9][0-9]{0,17})");

  /** The place of the objective's value in a configuration. */
  static final String OBJECTIVE_PATH = path(OBJECTIVE);

  /**
   * An input's name follows; the value describes the input's elements to people who try the model.
   */
  private static final String MEDIA_PREFIX = OWN_PREFIX + "media.";

  /** Set by the runtime: a configuration must not name libraries to load into the process. */
  private static final Set<String> RESERVED =
      Set.of(MODEL_PATH, "onnxruntime_path", "shared_thread_count");

  /** Triton's parameter that names a library which forms the batches. */
  private static final String BATCH_STRATEGY = "TRITON_BATCH_STRATEGY_PATH";

  private final ModelSpec.Builder spec;
  private final long version;

  private ParameterReader(ModelSpec.Builder spec, long version) {
    this.spec = spec;
    this.version = version;
  }

  static void read(ConfigNode root, ModelSpec.Builder spec, long version) {
    ParameterReader reader = new ParameterReader(spec, version);
    for (ConfigNode node : root.children(ModelConfig.PARAMETERS_FIELD_NUMBER)) {
      String value = node.entryValue().as(ModelParameter.class).getStringValue();
      reader.read(node, node.key(), value);
    }
  }

  private void read(ConfigNode node, String key, String value) {
    if (RESERVED.contains(key)
        || key.startsWith(MODEL_PATH + ".")
        || key.startsWith(ISOLATION + ".")) {
      throw node.invalid("parameter '" + key + "' is set by the runtime alone");
    }
    switch (key) {
      case BATCH_STRATEGY ->
          throw node.invalid(
              "parameter '"
                  + BATCH_STRATEGY
                  + "': custom batching libraries are not supported; see "
                  + BATCHER
                  + " for batchers in Java");
      case INLINE -> readInline(node, value);
      case INLINE_BUDGET -> readInlineBudget(node, value);
      case BATCHER -> readBatcher(node, value);
      case OBJECTIVE -> readObjective(node, value);
      case ISOLATION -> readIsolation(node, value);
      case SHADOW -> readShadow(node, value);
      default -> {
        if (key.startsWith(MEDIA_PREFIX)) {
          checkMedia(node, key, value);
        } else if (key.startsWith(OWN_PREFIX)) {
          throw node.invalid(
              "expected %s, %s, %s, %sINPUT or %s, the parameters of Nereid itself, got '%s'"
                  .formatted(INLINE, INLINE_BUDGET, OBJECTIVE, MEDIA_PREFIX, BATCHER, key));
        }
        spec.parameter(key, value);
      }
    }
  }

  private void readInline(ConfigNode node, String value) {
    if (!value.equals("true") && !value.equals("false")) {
      throw node.invalid("expected " + INLINE + " \"true\" or \"false\", got \"" + value + "\"");
    }
    spec.inline(value.equals("true"));
  }

  private static void checkMedia(ConfigNode node, String key, String value) {
    if (!value.matches("text|audio(;rate=[1-9][0-9]{3,5})?")) {
      throw node.invalid(
          "expected %s as \"text\", \"audio\" or \"audio;rate=16000\", got \"%s\""
              .formatted(key, value));
    }
  }

  private void readBatcher(ConfigNode node, String value) {
    if (value.isBlank()) {
      throw node.invalid("expected " + BATCHER + " as the name or class of a batcher, got nothing");
    }
    spec.batcher(value);
  }

  private void readObjective(ConfigNode node, String value) {
    try {
      spec.objective(Objective.parse(value));
    } catch (IllegalArgumentException e) {
      throw node.invalid(OBJECTIVE + ": " + e.getMessage());
    }
  }

  private void readIsolation(ConfigNode node, String value) {
    if (!value.matches(PLACES)) {
      throw node.invalid(
          "expected %s \"process\", \"process:GROUP\" or \"none\", got \"%s\""
              .formatted(ISOLATION, value));
    }
    spec.isolation(value);
  }

  /** Sets the parameter in a shadow's specification to the version that the shadow follows. */
  private void readShadow(ConfigNode node, String value) {
    Matcher form = shadowForm(node, value);
    long primary = Long.parseLong(form.group(2));
    long shadow = form.group(1) == null ? 0 : Long.parseLong(form.group(1));
    if (shadow == 0 ? version > primary : version == shadow) {
      spec.parameter(SHADOW, form.group(2));
    }
  }

  private static Matcher shadowForm(ConfigNode node, String value) {
    Matcher form = SHADOW_FORM.matcher(value);
    if (!form.matches() || form.group(2).equals(form.group(1))) {
      throw node.invalid(
          ("expected %s \"2\", for all versions above 2, or \"3=2\", where version 3 gets copies of"
                  + " the requests to version 2, got \"%s\"")
              .formatted(SHADOW, value));
    }
    return form;
  }

  /** The versions that {@link #SHADOW} names, each of which must be there; none without it. */
  static Set<Long> shadowVersions(ConfigNode root, Set<Long> there) {
    Set<Long> named = new HashSet<>();
    for (ConfigNode node : root.children(ModelConfig.PARAMETERS_FIELD_NUMBER)) {
      if (node.key().equals(SHADOW)) {
        String value = node.entryValue().as(ModelParameter.class).getStringValue();
        Matcher form = shadowForm(node, value);
        for (String one :
            form.group(1) == null
                ? List.of(form.group(2))
                : List.of(form.group(1), form.group(2))) {
          if (!there.contains(Long.parseLong(one))) {
            throw node.invalid(
                "expected %s to name versions of the model, which has %s, got \"%s\""
                    .formatted(SHADOW, there, value));
          }
          named.add(Long.parseLong(one));
        }
      }
    }
    return named;
  }

  /** Returns the configuration of a model with the options' values in place of its own. */
  static ConfigNode withOptions(ConfigNode root, ReadOptions options, String model) {
    ConfigNode changed = root;
    Objective objective = options.objectives().get(model);
    if (objective != null) {
      changed = with(changed, OBJECTIVE, objective.text());
    }
    if (options.shadows().containsKey(model)) {
      changed = with(changed, SHADOW, options.shadows().get(model));
    }
    String isolation = options.isolation(model);
    // An ensemble has no backend: "all models" leaves it out, and includes the models of its steps.
    boolean meant =
        isolation != null
            && (options.isolations().containsKey(model)
                || !root.as(ModelConfig.class).hasEnsembleScheduling());
    return meant ? with(changed, ISOLATION, isolation) : changed;
  }

  private static ConfigNode with(ConfigNode root, String key, String value) {
    ModelParameter text = ModelParameter.newBuilder().setStringValue(value).build();
    return root.withMessage(
        root.as(ModelConfig.class).toBuilder().putParameters(key, text).build());
  }

  /** The paths of the values that {@link #withOptions} sets. */
  static Set<String> given(ReadOptions options, String model) {
    Set<String> paths = new HashSet<>();
    if (options.objectives().containsKey(model)) {
      paths.add(OBJECTIVE_PATH);
    }
    if (options.isolation(model) != null) {
      paths.add(path(ISOLATION));
    }
    if (options.shadows().containsKey(model)) {
      paths.add(path(SHADOW));
    }
    return paths;
  }

  /** The option of the command line that sets the value at a path. */
  static String option(String path) {
    return path.equals(OBJECTIVE_PATH)
        ? "--objective"
        : path.equals(path(SHADOW)) ? "--shadow" : "--isolation";
  }

  private static String path(String parameter) {
    return "parameters[\"" + parameter + "\"].value.string_value";
  }

  /** Refuses an objective that conflicts with the model's other settings, at its place. */
  static void checkObjective(ConfigNode root, ModelSpec spec) {
    String obstacle = spec.objective().isPresent() ? obstacle(spec) : "";
    for (ConfigNode node : root.children(ModelConfig.PARAMETERS_FIELD_NUMBER)) {
      if (!obstacle.isEmpty() && node.key().equals(OBJECTIVE)) {
        throw node.invalid("the model cannot have " + OBJECTIVE + ": " + obstacle);
      }
    }
  }

  private static String obstacle(ModelSpec spec) {
    if (spec.ensemble().isPresent()) {
      return "it is an ensemble, and the models of its steps have objectives";
    }
    if (spec.sequenceBatching().isPresent()) {
      return "it has sequences, whose requests wait for each other";
    }
    if (spec.decoupled()) {
      return "it is decoupled, and its requests have any number of responses";
    }
    DynamicBatching batching = spec.dynamicBatching().orElse(DynamicBatching.create());
    if (batching.preserveOrdering()) {
      return "preserve_ordering is on, and an objective refuses requests and answers others";
    }
    List<QueuePolicy> policies = new ArrayList<>(batching.levelQueuePolicies().values());
    policies.add(batching.defaultQueuePolicy());
    return policies.stream().anyMatch(ParameterReader::isDelaying)
        ? "timeout_action is DELAY, which executes requests when it is too late for them"
        : "";
  }

  private static boolean isDelaying(QueuePolicy policy) {
    return policy.timeoutAction() == QueuePolicy.TimeoutAction.DELAY
        && (policy.allowTimeoutOverride() || !policy.defaultTimeout().isZero());
  }

  private void readInlineBudget(ConfigNode node, String value) {
    // Ten digits are more than two hours and fit every unit.
    if (!value.matches("[1-9][0-9]{0,9}")) {
      throw node.invalid(
          "expected " + INLINE_BUDGET + " as a whole number from 1 on, got \"" + value + "\"");
    }
    spec.inlineBudget(Duration.of(Long.parseLong(value), ChronoUnit.MICROS));
  }

  // ---- Optimization ----------------------------------------------------------------------------

  /**
   * Hands {@code optimization} to the backend as parameters, named as the fields are; the backend
   * interprets them.
   *
   * @param onProcessor whether the backend runs on the processor alone
   */
  static void readOptimization(ConfigNode root, ModelSpec.Builder spec, boolean onProcessor) {
    ParameterReader reader = new ParameterReader(spec, 0);
    ModelOptimizationPolicy config = root.as(ModelConfig.class).getOptimization();
    reader.readGraph(config);
    if (!onProcessor) {
      reader.readRest(config);
      reader.readCuda(config.getCuda());
    }
  }

  private void readGraph(ModelOptimizationPolicy config) {
    int level = config.getGraph().getLevel();
    if (level != 0) {
      putOptimization("graph.level", level);
    }
  }

  private void readRest(ModelOptimizationPolicy config) {
    if (config.getPriorityValue() != 0) {
      putOptimization("priority", config.getPriority());
    }
    if (config.hasInputPinnedMemory()) {
      putOptimization("input_pinned_memory.enable", config.getInputPinnedMemory().getEnable());
    }
    if (config.hasOutputPinnedMemory()) {
      putOptimization("output_pinned_memory.enable", config.getOutputPinnedMemory().getEnable());
    }
    if (config.getGatherKernelBufferThreshold() != 0) {
      putOptimization(
          "gather_kernel_buffer_threshold",
          Integer.toUnsignedString(config.getGatherKernelBufferThreshold()));
    }
    if (config.getEagerBatching()) {
      putOptimization("eager_batching", true);
    }
    if (config.hasExecutionAccelerators()) {
      putOptimization(
          "execution_accelerators", JsonConfigWriter.write(config.getExecutionAccelerators()));
    }
  }

  private void readCuda(Cuda cuda) {
    if (cuda.getGraphs()) {
      putOptimization("cuda.graphs", true);
    }
    if (cuda.getBusyWaitEvents()) {
      putOptimization("cuda.busy_wait_events", true);
    }
    if (cuda.getOutputCopyStream()) {
      putOptimization("cuda.output_copy_stream", true);
    }
    if (cuda.getGraphSpecCount() > 0) {
      List<String> specs = cuda.getGraphSpecList().stream().map(JsonConfigWriter::write).toList();
      putOptimization("cuda.graph_spec", "[" + String.join(",", specs) + "]");
    }
  }

  private void putOptimization(String name, Object value) {
    spec.parameter(OPTIMIZATION_PREFIX + name, value.toString());
  }
}
