package io.nereid.tensorrt;

import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model's settings for this backend, from its parameters; docs/tensorrt.md lists them.
 *
 * @param plan the file
 * @param graphs whether CUDA graphs are captured
 * @param graphLimit the most graphs of an instance; further shapes run without one
 * @param batchesInFlight how many batches of an instance are on the device at once
 * @param copyThresholdBytes the bytes from which on a request's inputs are copied separately
 * @param spinUs how long a thread spins for the end of a batch before it sleeps
 * @param priority of its streams
 * @param versionCompatible whether the plan may be of another version and bring code to run it
 * @param weightStreaming whether weights may stay in the processor's memory
 * @param weightBudgetBytes device memory for weights that are streamed; -1: TensorRT's choice
 * @param weights the file with the weights that the plan gets; empty: it keeps its own
 * @param plugins libraries of plugins
 */
record TensorRtOptions(
    Path plan,
    boolean graphs,
    int graphLimit,
    int batchesInFlight,
    long copyThresholdBytes,
    long spinUs,
    Priority priority,
    boolean versionCompatible,
    boolean weightStreaming,
    long weightBudgetBytes,
    Optional<PlanWeights> weights,
    List<Path> plugins) {

  /** The priority of streams, in Triton's words without {@code PRIORITY_}. */
  enum Priority {
    MIN,
    DEFAULT,
    MAX
  }

  static final String MODEL_PATH = "model_path";

  /**
   * The property with plugin libraries for all models, separated by colons; it wins over the
   * variable.
   */
  static final String PLUGINS_PROPERTY = "nereid.tensorrt.plugins";

  static final String PLUGINS_VARIABLE = "NEREID_TENSORRT_PLUGINS";
  static final String PLUGINS_NAMED_BY = PLUGINS_VARIABLE + " or -D" + PLUGINS_PROPERTY;

  private static final String AUTOMATIC = "auto";

  static TensorRtOptions of(ModelSpec spec) {
    Reader reader = new Reader(spec.name(), spec.parameters());
    String weights = reader.text("weight_streaming_bytes", "");
    boolean automatic = weights.equals(AUTOMATIC);
    return new TensorRtOptions(
        reader.plan(),
        reader.bool("optimization.cuda.graphs", false),
        (int) reader.number("graph_limit", 32, 0, 1024),
        (int) reader.number("batches_in_flight", 2, 1, 8),
        reader.number("copy_threshold_bytes", 64 << 10, 0, 1L << 40),
        reader.bool("optimization.cuda.busy_wait_events", false)
            ? Long.MAX_VALUE / 1000
            : reader.number("spin_us", 100, 0, 1_000_000),
        reader.priority(),
        reader.bool("version_compatible", false),
        !weights.isEmpty(),
        automatic ? -1 : reader.number("weight_streaming_bytes", 0, 0, Long.MAX_VALUE),
        reader.weights(),
        LibraryFinder.paths(PLUGINS_PROPERTY, PLUGINS_VARIABLE));
  }

  private record Reader(String model, Map<String, String> parameters) {

    String text(String key, String otherwise) {
      return parameters.getOrDefault(key, otherwise).strip();
    }

    Path plan() {
      String path = text(MODEL_PATH, "");
      if (path.isEmpty()) {
        throw invalid(MODEL_PATH, "the plan's file", "nothing");
      }
      return Path.of(path);
    }

    boolean bool(String key, boolean otherwise) {
      String text = text(key, Boolean.toString(otherwise));
      return switch (text) {
        case "true", "1" -> true;
        case "false", "0" -> false;
        default -> throw invalid(key, "true or false", "'" + text + "'");
      };
    }

    long number(String key, long otherwise, long least, long most) {
      String text = text(key, Long.toString(otherwise));
      long number;
      try {
        number = Long.parseLong(text);
      } catch (NumberFormatException e) {
        throw invalid(key, "a whole number", "'" + text + "'");
      }
      if (number < least || number > most) {
        throw invalid(key, "a number from " + least + " to " + most, text);
      }
      return number;
    }

    Priority priority() {
      String text = text("optimization.priority", "PRIORITY_DEFAULT");
      for (Priority priority : Priority.values()) {
        if (text.equals("PRIORITY_" + priority)) {
          return priority;
        }
      }
      throw invalid(
          "optimization.priority",
          "PRIORITY_MAX, PRIORITY_DEFAULT or PRIORITY_MIN",
          "'" + text + "'");
    }

    Optional<PlanWeights> weights() {
      String written = text(PlanWeights.PARAMETER, "");
      try {
        return PlanWeights.of(plan(), written);
      } catch (IllegalArgumentException e) {
        throw invalid(PlanWeights.PARAMETER, e.getMessage(), "'" + written + "'");
      }
    }

    private NereidException invalid(String key, String expected, String got) {
      return new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "model '" + model + "', parameter '" + key + "': expected " + expected + ", got " + got);
    }
  }
}
