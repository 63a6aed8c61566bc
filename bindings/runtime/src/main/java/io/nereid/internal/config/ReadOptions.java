package io.nereid.internal.config;

import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * The options for reading a model's directory.
 *
 * @param autoComplete whether the model may fill gaps of its configuration
 * @param defaultMaxBatchSize the {@code max_batch_size} of models that have a batch dimension but
 *     tell no size
 * @param configName name, without its ending, of the file in {@code configs} that is preferred;
 *     empty: none
 * @param steps finds the models that ensembles mean
 * @param plugins tells which backends are plug-ins
 * @param agents runs the repository agents that models name
 * @param override a configuration in JSON that is used in place of the directory's
 * @param objectives by model name, in place of the configurations'
 * @param isolations isolations by model name, in the same way; {@code *} names all others
 * @param shadows by model name, in the same way: a version and the one that it follows
 */
public record ReadOptions(
    boolean autoComplete,
    int defaultMaxBatchSize,
    String configName,
    StepNames steps,
    Plugins plugins,
    Agents agents,
    Optional<String> override,
    Map<String, Objective> objectives,
    Map<String, String> isolations,
    Map<String, String> shadows) {

  /** The options that Triton has by default. */
  public static final ReadOptions DEFAULT = new ReadOptions(true, 4, Optional.empty());

  /** Checks that nothing is null. */
  public ReadOptions {
    Objects.requireNonNull(configName);
    Objects.requireNonNull(steps);
    Objects.requireNonNull(plugins);
    Objects.requireNonNull(agents);
    Objects.requireNonNull(override);
    objectives = Map.copyOf(objectives);
    isolations = Map.copyOf(isolations);
    shadows = Map.copyOf(shadows);
  }

  /** Options with {@code config.pbtxt}, names that all models have in common, and no plug-ins. */
  public ReadOptions(boolean autoComplete, int defaultMaxBatchSize, Optional<String> override) {
    this(
        autoComplete,
        defaultMaxBatchSize,
        "",
        StepNames.COMMON,
        Plugins.NONE,
        Agents.NONE,
        override,
        Map.of(),
        Map.of(),
        Map.of());
  }

  /** Returns the options for a repository's options. */
  public static ReadOptions of(
      RepositoryOptions options,
      StepNames steps,
      Plugins plugins,
      Agents agents,
      Optional<String> override) {
    return new ReadOptions(
        options.autoComplete(),
        options.defaultMaxBatchSize(),
        options.configName(),
        steps,
        plugins,
        agents,
        override,
        options.objectives(),
        options.isolations(),
        options.shadows());
  }

  /** The isolation of a model, in place of what its configuration says; null: it keeps its own. */
  String isolation(String model) {
    return isolations.getOrDefault(model, isolations.get(RepositoryOptions.ALL_MODELS));
  }

  /** Returns these options with other agents. */
  ReadOptions withAgents(Agents others) {
    return new ReadOptions(
        autoComplete,
        defaultMaxBatchSize,
        configName,
        steps,
        plugins,
        others,
        override,
        objectives,
        isolations,
        shadows);
  }

  /** Finds the model that a step of an ensemble means. */
  public interface StepNames {

    /** The model of that name, wherever it is. */
    StepNames COMMON = (directory, namespace, name) -> name;

    /**
     * The model's key.
     *
     * @param directory the ensemble's
     * @param namespace the step's {@code model_namespace}; empty: it has none
     * @param name the step's {@code model_name}
     */
    String key(Path directory, String namespace, String name);
  }

  /** Decides which backends are plug-ins that were made for Triton. */
  public interface Plugins {

    /** There are none. */
    Plugins NONE = (model, backend, directory, version, runtime) -> false;

    /**
     * True if a plug-in runs this version of a model.
     *
     * @param directory the model's
     * @param runtime the library that the configuration names; empty: none
     */
    boolean runs(String model, String backend, Path directory, long version, String runtime);
  }

  /** Repository agents, which are told of a model before it is loaded. */
  public interface Agents {

    /** There are none: the model is where it is. */
    Agents NONE = (model, config, directory, agents) -> directory;

    /**
     * Calls the agents of a model, one after the other; an exception of one fails the load.
     *
     * @param config reads the configuration in a directory, as JSON; each agent gets that of the
     *     directory it is given
     * @return the directory where the model is to be found
     */
    Path locate(String model, Function<Path, String> config, Path directory, List<Agent> agents);
  }

  /** A repository agent that a configuration names. */
  public record Agent(String name, Map<String, String> parameters) {}
}
