package io.nereid.internal.repository;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.nereid.StatusCode;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelInstanceGroup.Kind;
import io.nereid.proto.ModelOutput;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * What becomes of configuration fields that Nereid does not act on: refused where leaving them out
 * would change a model's answers, else ignored with a warning. All other fields are supported; a
 * test holds the list in docs/model-repository.md against this one.
 */
final class FieldRules {

  /** What a field does that is set. */
  enum Effect {
    IGNORED,
    REFUSED
  }

  /**
   * The rule for a field.
   *
   * @param text what happens instead, or why not
   * @param applies whether it holds for this value in this message
   */
  record Rule(Effect effect, String text, BiPredicate<Message, Object> applies) {}

  /** By the field's name after the package: message, dot, field. */
  static final Map<String, Rule> RULES = new TreeMap<>();

  private static final BiPredicate<Message, Object> ALWAYS = (message, value) -> true;

  static {
    // ---- Would change answers ----
    refuse("ModelConfig.batch_input", "inputs made from a batch's requests are not supported");
    refuse("ModelConfig.batch_output", "outputs scattered in this way are not supported");
    refuse("ModelConfig.sequence_batching", "sequences are not supported");
    refuse("ModelConfig.ensemble_scheduling", "ensembles are not supported");
    refuse("ModelConfig.model_repository_agents", "repository agents are not supported");
    refuse("ModelOperations.op_library_filename", "custom operators are not supported");
    refuse("ModelTransactionPolicy.decoupled", "requests with many responses are not supported");
    refuse("ModelInput.is_shape_tensor", "shape tensors are not supported");
    refuse("ModelInput.allow_ragged_batch", "ragged batches are not supported");
    refuse("ModelInput.is_non_linear_format_io", "only the linear memory format is supported");
    refuse("ModelOutput.is_shape_tensor", "shape tensors are not supported");
    refuse("ModelOutput.is_non_linear_format_io", "only the linear memory format is supported");
    String reshape = "reshaping is not supported: configure the model's own shape as dims";
    RULES.put("ModelInput.reshape", new Rule(Effect.REFUSED, reshape, FieldRules::reshapesInput));
    RULES.put("ModelOutput.reshape", new Rule(Effect.REFUSED, reshape, FieldRules::reshapesOutput));

    // ---- Changes speed, placement or reports only ----
    ignore("ModelConfig.runtime", "the backend is found by its name alone");
    ignore("ModelConfig.cc_model_filenames", "default_model_filename holds for every device");
    ignore("ModelConfig.metric_tags", "metrics carry no tags of models");
    ignore("ModelConfig.model_metrics", "metrics keep their standard form");
    ignore("ModelConfig.model_warmup", "there is no warm-up; first requests may take longer");
    ignore("ModelInput.format", "it is taken as a remark; data is passed on as it comes");
    ignore("ModelInstanceGroup.gpus", "the core's backends run on the processor");
    ignore("ModelInstanceGroup.host_policy", "instances run on any processor");
    ignore("ModelInstanceGroup.profile", "there are no optimization profiles");
    ignore("ModelInstanceGroup.rate_limiter", "instances wait for no resources");
    ignore("ModelInstanceGroup.secondary_devices", "the core's backends run on the processor");
    RULES.put(
        "ModelInstanceGroup.kind",
        new Rule(
            Effect.IGNORED,
            "the core's backends run on the processor",
            (message, value) -> value == Kind.KIND_GPU.getValueDescriptor()));
    ignore("ModelOptimizationPolicy.priority", "all models have the same priority");
    ignore("ModelOptimizationPolicy.cuda", "no backend here uses CUDA");
    ignore(
        "ModelOptimizationPolicy.execution_accelerators",
        "ONNX Runtime's standard processor kernels are used");
    ignore("ModelOptimizationPolicy.input_pinned_memory", "inputs are always in the pinned pool");
    ignore("ModelOptimizationPolicy.output_pinned_memory", "outputs are always in the pinned pool");
    ignore("ModelOptimizationPolicy.gather_kernel_buffer_threshold", "no backend here uses CUDA");
    ignore("ModelOptimizationPolicy.eager_batching", "a batch is gathered when it is taken");
  }

  private FieldRules() {}

  private static void refuse(String field, String text) {
    RULES.put(field, new Rule(Effect.REFUSED, text, ALWAYS));
  }

  private static void ignore(String field, String text) {
    RULES.put(field, new Rule(Effect.IGNORED, text, ALWAYS));
  }

  private static boolean reshapesInput(Message message, Object value) {
    ModelInput input = (ModelInput) message;
    return !input.getReshape().getShapeList().equals(input.getDimsList());
  }

  private static boolean reshapesOutput(Message message, Object value) {
    ModelOutput output = (ModelOutput) message;
    return !output.getReshape().getShapeList().equals(output.getDimsList());
  }

  /** Throws for the first refused field; hands a line to {@code warn} for each ignored one. */
  static void check(ConfigNode root, Consumer<String> warn) {
    check(root, warn, new HashSet<>());
  }

  private static void check(ConfigNode node, Consumer<String> warn, Set<FieldDescriptor> warned) {
    for (Map.Entry<FieldDescriptor, Object> entry : node.message().getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      List<?> values = field.isRepeated() ? (List<?>) entry.getValue() : List.of(entry.getValue());
      Rule rule = RULES.get(key(field));
      for (int i = 0; i < values.size(); i++) {
        Object value = values.get(i);
        if (rule != null) {
          if (rule.applies.test(node.message(), value)) {
            apply(rule, field, node.place(field, i), value, warned.add(field) ? warn : null);
          }
        } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
          check(node.child(field, i), warn, warned);
        }
      }
    }
  }

  private static void apply(
      Rule rule, FieldDescriptor field, String place, Object value, Consumer<String> warn) {
    String what = field.getName();
    if (value instanceof EnumValueDescriptor constant) {
      what += ": " + constant.getName();
    }
    if (rule.effect == Effect.REFUSED) {
      throw ConfigNode.failure(StatusCode.UNIMPLEMENTED, place, what + ": " + rule.text);
    }
    if (warn != null) {
      warn.accept(place + ": " + what + " is ignored: " + rule.text);
    }
  }

  /** A field's name in {@link #RULES}. */
  static String key(FieldDescriptor field) {
    String full = field.getFullName();
    return full.substring(field.getFile().getPackage().length() + 1);
  }
}
