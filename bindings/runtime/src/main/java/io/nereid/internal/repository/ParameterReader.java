package io.nereid.internal.repository;

import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelParameter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;

/** Reads {@code parameters}, which are the backend's, but for those of Nereid itself. */
final class ParameterReader {

  static final String MODEL_PATH = "model_path";

  /** Parameters with this prefix are Nereid's own. */
  private static final String OWN_PREFIX = "nereid.";

  static final String INLINE = OWN_PREFIX + "inline";
  static final String INLINE_BUDGET = OWN_PREFIX + "inline_budget_microseconds";

  /** Set by the runtime: a configuration must not name libraries to load into the process. */
  private static final Set<String> RESERVED =
      Set.of(MODEL_PATH, "onnxruntime_path", "shared_thread_count");

  /** Triton's parameter that names a library which forms the batches. */
  private static final String BATCH_STRATEGY = "TRITON_BATCH_STRATEGY_PATH";

  private final ModelSpec.Builder spec;

  private ParameterReader(ModelSpec.Builder spec) {
    this.spec = spec;
  }

  static void read(ConfigNode root, ModelSpec.Builder spec) {
    ParameterReader reader = new ParameterReader(spec);
    for (ConfigNode node : root.children(ModelConfig.PARAMETERS_FIELD_NUMBER)) {
      String value = MapEntries.value(node).as(ModelParameter.class).getStringValue();
      reader.read(node, MapEntries.key(node), value);
    }
  }

  private void read(ConfigNode node, String key, String value) {
    if (RESERVED.contains(key) || key.startsWith(MODEL_PATH + ".")) {
      throw node.invalid("parameter '" + key + "' is set by the runtime alone");
    }
    switch (key) {
      case BATCH_STRATEGY ->
          throw node.invalid(
              "parameter '" + BATCH_STRATEGY + "': custom batching libraries are not supported");
      case INLINE -> readInline(node, value);
      case INLINE_BUDGET -> readInlineBudget(node, value);
      default -> {
        if (key.startsWith(OWN_PREFIX)) {
          throw node.invalid(
              "expected "
                  + INLINE
                  + " or "
                  + INLINE_BUDGET
                  + ", the parameters of Nereid itself, got '"
                  + key
                  + "'");
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

  private void readInlineBudget(ConfigNode node, String value) {
    // Ten digits are more than two hours and fit every unit that comes.
    if (!value.matches("[1-9][0-9]{0,9}")) {
      throw node.invalid(
          "expected " + INLINE_BUDGET + " as a whole number from 1 on, got \"" + value + "\"");
    }
    spec.inlineBudget(Duration.of(Long.parseLong(value), ChronoUnit.MICROS));
  }
}
