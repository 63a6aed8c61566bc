package io.nereid.cli;

import io.nereid.model.RepositoryOptions;
import io.nereid.model.RepositoryOptions.ControlMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which models are loaded, and when: Triton's flags where it has them. */
final class ControlArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

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
      defaultValue = "15",
      description = "How often mode poll looks for changes; ${DEFAULT-VALUE} by default.")
  private long pollSeconds;

  @Option(
      names = "--load-model",
      paramLabel = "NAME",
      description = "In mode explicit, load this model at the start; repeatable, * for all.")
  private List<String> loadModels = new ArrayList<>();

  @Option(
      names = "--model-load-thread-count",
      paramLabel = "N",
      defaultValue = "4",
      description = "How many models are loaded at the same time; ${DEFAULT-VALUE} by default.")
  private int loadThreadCount;

  @Option(
      names = "--disable-auto-complete-config",
      description = "Do not ask models for what their configurations leave out.")
  private boolean noAutoComplete;

  @Option(
      names = "--default-max-batch-size",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "The max_batch_size of models that can batch and do not say how much;"
              + " ${DEFAULT-VALUE} by default.")
  private int defaultMaxBatchSize;

  /** Triton's flag before --disable-auto-complete-config. */
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
      defaultValue = "false",
      fallbackValue = "true",
      description =
          "Models in different repositories may have the same name; ${DEFAULT-VALUE} by default.")
  private boolean namespacing;

  @Option(
      names = "--model-load-retry-count",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "How often a load that failed is tried again, at once; ${DEFAULT-VALUE} by default.")
  private int loadRetryCount;

  List<Path> directories(Path more) {
    return repositories.directories(more);
  }

  boolean isPolling() {
    return controlMode == ControlMode.POLL;
  }

  /** The options, to which listeners can be added; {@code more} is another repository or null. */
  RepositoryOptions.Builder options(Path more) {
    check(
        controlMode == ControlMode.EXPLICIT || loadModels.isEmpty(),
        "--load-model needs --model-control-mode explicit");
    check(pollSeconds > 0, "expected --repository-poll-secs of 1 or more, got " + pollSeconds);
    check(
        loadThreadCount > 0,
        "expected --model-load-thread-count of 1 or more, got " + loadThreadCount);
    check(
        defaultMaxBatchSize > 0,
        "expected --default-max-batch-size of 1 or more, got " + defaultMaxBatchSize);
    check(
        loadRetryCount >= 0,
        "expected --model-load-retry-count of 0 or more, got " + loadRetryCount);
    check(
        configName == null || configName.matches("[^/\\\\\\s]+") && !configName.contains(".."),
        "expected --model-config-name to be a file's name without blanks and without .pbtxt, got '"
            + configName
            + "'");
    RepositoryOptions.Builder options = RepositoryOptions.builder();
    directories(more).forEach(options::repository);
    if (controlMode == ControlMode.EXPLICIT) {
      options.explicit(loadModels.toArray(String[]::new));
    }
    return options
        .controlMode(controlMode)
        .pollInterval(Duration.ofSeconds(pollSeconds))
        .loadThreadCount(loadThreadCount)
        .autoComplete(!noAutoComplete && !strictConfig)
        .configName(configName == null ? "" : configName)
        .namespacing(namespacing)
        .loadRetryCount(loadRetryCount)
        .defaultMaxBatchSize(defaultMaxBatchSize);
  }

  private void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new ParameterException(command.commandLine(), otherwise);
    }
  }
}
