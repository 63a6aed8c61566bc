package io.nereid.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * Triton's flags without a counterpart. They are accepted with a warning, so that scripts that
 * start Triton can start Nereid.
 */
final class TritonFlags {

  private static final String THREADS = "requests are served on virtual threads";
  private static final String NO_GPU = "memory of GPUs is taken as models need it";
  private static final String CLOUD = "this frontend is not here; use the HTTP frontend";

  private static final List<String> OWN_BACKENDS =
      List.of("onnxruntime", "identity", "tensorrt", "repeat");

  /** The reason by flag. A flag that the command gets itself is ignored here. */
  private static final Map<String, String> REASONS = new LinkedHashMap<>();

  static {
    REASONS.put("--model-load-gpu-limit", NO_GPU);
    REASONS.put("--enable-peer-access", NO_GPU);
    REASONS.put("--http-thread-count", THREADS);
    REASONS.put("--reuse-http-port", "a port has one server");
    REASONS.put("--reuse-grpc-port", "a port has one server");
    REASONS.put("--grpc-infer-thread-count", "calls are served on as many threads as processors");
    REASONS.put(
        "--grpc-http2-max-pings-without-data", "the server's pings are not bounded by data");
    REASONS.put("--grpc-http2-max-ping-strikes", "it is 2, and cannot be changed");
    REASONS.put("--grpc-infer-allocation-pool-size", "messages are not pooled by number");
    REASONS.put("--grpc-max-response-pool-size", "messages are not pooled by number");
    REASONS.put("--allow-sagemaker", CLOUD);
    REASONS.put("--sagemaker-port", CLOUD);
    REASONS.put("--sagemaker-safe-port-range", CLOUD);
    REASONS.put("--sagemaker-thread-count", CLOUD);
    REASONS.put("--allow-vertex-ai", CLOUD);
    REASONS.put("--vertex-ai-port", CLOUD);
    REASONS.put("--vertex-ai-thread-count", CLOUD);
    REASONS.put("--vertex-ai-default-model", CLOUD);
    REASONS.put("--cuda-memory-pool-byte-size", NO_GPU);
    REASONS.put("--cuda-virtual-address-size", NO_GPU);
    REASONS.put("--min-supported-compute-capability", NO_GPU);
    REASONS.put(
        "--buffer-manager-thread-count", "tensors are copied by the thread that needs them");
  }

  private TritonFlags() {}

  /** Makes a command accept those flags that it does not have. */
  static void addTo(CommandSpec command) {
    for (String flag : REASONS.keySet()) {
      if (command.findOption(flag) == null) {
        command.addOption(
            OptionSpec.builder(flag)
                .type(List.class)
                .auxiliaryTypes(String.class)
                .arity("0..1")
                .fallbackValue("true")
                .paramLabel("VALUE")
                .hidden(true)
                .build());
      }
    }
  }

  /** A warning for each of these flags on the command line. */
  static List<String> warnings(ParseResult command) {
    List<String> warnings = new ArrayList<>();
    for (OptionSpec option : command.matchedOptionsSet()) {
      String reason = REASONS.get(option.longestName());
      if (option.hidden() && reason != null) {
        warnings.add(option.longestName() + " has no effect: " + reason);
      }
      if (option.longestName().equals("--backend-config")) {
        warnings.addAll(ownBackends(option.stringValues()));
      }
    }
    return warnings;
  }

  /**
   * Warnings about settings of Nereid's own backends, which have none, unless the plug-in is asked
   * for.
   */
  private static List<String> ownBackends(List<String> settings) {
    List<String> warnings = new ArrayList<>();
    for (String backend : OWN_BACKENDS) {
      List<String> its =
          settings.stream().filter(setting -> setting.startsWith(backend + ",")).toList();
      if (!its.isEmpty() && !its.contains(backend + ",implementation=plugin")) {
        its.stream()
            .filter(setting -> !setting.equals(backend + ",implementation=nereid"))
            .forEach(setting ->
                warnings.add(
                    "--backend-config "
                        + setting
                        + " has no effect: Nereid's own "
                        + backend
                        + " has its settings in the configurations of models"));
      }
    }
    return warnings;
  }

  /** All flags with their reasons. */
  static Map<String, String> reasons() {
    return Map.copyOf(REASONS);
  }
}
