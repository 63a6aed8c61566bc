package io.nereid.internal.config;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nereid.proto.ModelInstanceGroup.Kind;
import io.nereid.proto.ModelOptimizationPolicy.PinnedMemoryBuffer;
import io.nereid.types.StatusCode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The rules for configuration fields that Nereid does not act on: a field is refused if ignoring it
 * would change a model's answers, else ignored with a warning. All other fields are supported; a
 * test holds the list in docs/model-repository.md against this one.
 */
final class FieldRules {

  /** The consequence of setting a field. */
  enum Effect {
    IGNORED,
    REFUSED
  }

  /** The backends for which a rule holds. */
  enum Scope {
    /** The rule holds for every backend. */
    ALL,
    /** The rule holds unless a plug-in runs the model, which reads the configuration itself. */
    OWN,
    /** The rule holds for backends that run on the processor alone. */
    PROCESSOR;

    private boolean holds(BackendNames.Found backend) {
      return switch (this) {
        case ALL -> true;
        case OWN -> !backend.plugin();
        case PROCESSOR -> backend.onProcessor();
      };
    }
  }

  /**
   * The rule for a field.
   *
   * @param text what happens instead, or why not
   * @param applies whether it holds for this value
   */
  record Rule(Effect effect, Scope scope, String text, Predicate<Object> applies) {}

  /** The rules, by message, dot and field, without the package. */
  static final Map<String, Rule> RULES = new TreeMap<>();

  static {
    // ---- Would change answers ----
    refuse("ModelOperations.op_library_filename", "custom operators are not supported");
    refuse("ModelInput.is_shape_tensor", "shape tensors are not supported");
    refuse("ModelInput.is_non_linear_format_io", "only the linear memory format is supported");
    refuse("ModelOutput.is_shape_tensor", "shape tensors are not supported");
    refuse("ModelOutput.is_non_linear_format_io", "only the linear memory format is supported");

    // ---- Changes speed, placement or reports only ----
    ignore(Scope.OWN, "ModelConfig.runtime", "the backend is found by its name alone");
    ignore(Scope.ALL, "ModelConfig.metric_tags", "metrics carry no tags of models");
    ignore(Scope.ALL, "ModelConfig.model_metrics", "metrics keep their standard form");
    ignore(
        Scope.OWN, "ModelInput.format", "it is taken as a remark; data is passed on as it comes");
    ignore(Scope.OWN, "ModelInstanceGroup.secondary_devices", "no backend uses NVIDIA's DLA");

    // ---- The same, for the backends that run on the processor ----
    String processor = "the core's backends run on the processor";
    RULES.put(
        "ModelInstanceGroup.kind",
        new Rule(
            Effect.IGNORED,
            Scope.PROCESSOR,
            processor,
            value -> value == Kind.KIND_GPU.getValueDescriptor()));
    ignoreOnProcessor("ModelInstanceGroup.gpus", processor);
    ignoreOnProcessor("ModelInstanceGroup.profile", "there are no optimization profiles");
    ignoreOnProcessor(
        "ModelConfig.cc_model_filenames", "the processor uses default_model_filename");
    String optimization = "ModelOptimizationPolicy.";
    ignoreOnProcessor(optimization + "priority", "all models have the same priority");
    ignoreOnProcessor(optimization + "cuda", "the core's backends do not use CUDA");
    ignoreOnProcessor(
        optimization + "execution_accelerators",
        "ONNX Runtime's standard processor kernels are used");
    RULES.put(optimization + "input_pinned_memory", unpinned("inputs"));
    RULES.put(optimization + "output_pinned_memory", unpinned("outputs"));
    ignoreOnProcessor(
        optimization + "gather_kernel_buffer_threshold", "the core's backends do not use CUDA");
    ignoreOnProcessor(optimization + "eager_batching", "a batch is gathered when it is taken");
  }

  private final BackendNames.Found backend;
  private final Consumer<String> warn;
  private final Set<FieldDescriptor> warned = new HashSet<>();

  private FieldRules(BackendNames.Found backend, Consumer<String> warn) {
    this.backend = backend;
    this.warn = warn;
  }

  private static void refuse(String field, String text) {
    RULES.put(field, new Rule(Effect.REFUSED, Scope.OWN, text, value -> true));
  }

  private static void ignore(Scope scope, String field, String text) {
    RULES.put(field, new Rule(Effect.IGNORED, scope, text, value -> true));
  }

  private static void ignoreOnProcessor(String field, String text) {
    ignore(Scope.PROCESSOR, field, text);
  }

  private static Rule unpinned(String what) {
    return new Rule(
        Effect.IGNORED,
        Scope.PROCESSOR,
        what + " are always in the pinned pool",
        value -> !((PinnedMemoryBuffer) value).getEnable());
  }

  /** Throws for the first refused field; hands a line to {@code warn} for each ignored one. */
  static void check(ConfigNode root, BackendNames.Found backend, Consumer<String> warn) {
    new FieldRules(backend, warn).check(root);
  }

  private void check(ConfigNode node) {
    for (Map.Entry<FieldDescriptor, Object> entry : node.message().getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      List<?> values = field.isRepeated() ? (List<?>) entry.getValue() : List.of(entry.getValue());
      Rule rule = RULES.get(key(field));
      if (rule != null && !rule.scope.holds(backend)) {
        continue; // the backend gets the field
      }
      for (int i = 0; i < values.size(); i++) {
        if (rule != null) {
          apply(rule, field, node.place(field, i), values.get(i));
        } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
          check(node.child(field, i));
        }
      }
    }
  }

  private void apply(Rule rule, FieldDescriptor field, String place, Object value) {
    if (!rule.applies.test(value)) {
      return;
    }
    String what = field.getName();
    if (value instanceof EnumValueDescriptor constant) {
      what += ": " + constant.getName();
    }
    if (rule.effect == Effect.REFUSED) {
      throw ConfigNode.failure(StatusCode.UNIMPLEMENTED, place, what + ": " + rule.text);
    }
    if (warned.add(field)) {
      warn.accept(place + ": " + what + " is ignored: " + rule.text);
    }
  }

  /** A field's name in {@link #RULES}. */
  static String key(FieldDescriptor field) {
    String full = field.getFullName();
    return full.substring(field.getFile().getPackage().length() + 1);
  }
}
