package io.nereid.cli;

import io.nereid.model.RepositoryOptions;
import io.nereid.model.RepositoryOptions.ControlMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags for which models are loaded and when; Triton's flags if it has them. */
final class ControlArguments extends Arguments {

  @Mixin private RepositoryArguments repositories = new RepositoryArguments();

  @Option(
      names = "--model-control-mode",
      paramLabel = "MODE",
      defaultValue = "none",
      description = {
        "none: load all models at the start (the default).",
        "poll: and follow changes in the repositories.",
        "explicit: load what --load-model names, and what is asked for later."
      })
  private ControlMode controlMode;

  @Option(
      names = "--repository-poll-secs",
      paramLabel = "SECONDS",
      description = "How often mode poll looks for changes; ${DEFAULT-VALUE} by default.")
  private long pollSeconds = 15;

  @Option(
      names = "--load-model",
      paramLabel = "NAME",
      description = "In mode explicit, load this model at the start; repeatable, * for all.")
  private List<String> loadModels = new ArrayList<>();

  @Option(
      names = "--model-load-thread-count",
      paramLabel = "N",
      description = "How many models are loaded at the same time; ${DEFAULT-VALUE} by default.")
  private int loadThreadCount = 4;

  @Option(
      names = "--disable-auto-complete-config",
      description = "Do not ask models for what their configurations leave out.")
  private boolean noAutoComplete;

  @Option(
      names = "--default-max-batch-size",
      paramLabel = "N",
      description =
          "The max_batch_size of models that can batch and do not say how much;"
              + " ${DEFAULT-VALUE} by default.")
  private int defaultMaxBatchSize = 4;

  /** Triton's older flag, before --disable-auto-complete-config. */
  @Option(
      names = "--strict-model-config",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      hidden = true)
  private boolean strictConfig;

  @Option(
      names = "--model-config-name",
      paramLabel = "NAME",
      description =
          "Models with a file configs/NAME.pbtxt have that configuration instead of config.pbtxt.")
  private String configName;

  @Option(
      names = "--model-namespacing",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Models in different repositories may have the same name; ${DEFAULT-VALUE} by default.")
  private boolean namespacing;

  @Option(
      names = "--model-load-retry-count",
      paramLabel = "N",
      description =
          "How often a load that failed is tried again, at once; ${DEFAULT-VALUE} by default.")
  private int loadRetryCount;

  List<String> places(String more) {
    return repositories.places(RepositoryArguments.listOf(more));
  }

  boolean isPolling() {
    return controlMode == ControlMode.POLL;
  }

  /**
   * Makes the options, with more repositories; listeners can be added.
   *
   * @param progress gets the progress of fetching
   */
  RepositoryOptions.Builder options(List<String> more, Consumer<String> progress) {
    check(
        controlMode == ControlMode.EXPLICIT || loadModels.isEmpty(),
        "--load-model needs --model-control-mode explicit");
    check(
        configName == null || configName.matches("[^/\\\\\\s]+") && !configName.contains(".."),
        "expected --model-config-name to be a file's name without blanks and without .pbtxt, got '"
            + configName
            + "'");
    RepositoryOptions.Builder options = RepositoryOptions.builder();
    repositories.addTo(options, more, progress);
    if (controlMode == ControlMode.EXPLICIT) {
      options.explicit(loadModels.toArray(String[]::new));
    }
    return options
        .controlMode(controlMode)
        .pollInterval(seconds("--repository-poll-secs", pollSeconds))
        .loadThreadCount(atLeast(1, "--model-load-thread-count", loadThreadCount))
        .autoComplete(!noAutoComplete && !strictConfig)
        .configName(configName == null ? "" : configName)
        .namespacing(namespacing)
        .loadRetryCount(atLeast(0, "--model-load-retry-count", loadRetryCount))
        .defaultMaxBatchSize(atLeast(1, "--default-max-batch-size", defaultMaxBatchSize));
  }

  private void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new ParameterException(command().commandLine(), otherwise);
    }
  }
}
