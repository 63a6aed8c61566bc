package io.nereid.internal.model;

import io.nereid.internal.config.PluginConfig;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.config.ReadOptions;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.model.InstancePlacement;
import io.nereid.model.PluginOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The plug-ins made for Triton, as models need them. The default methods find no plug-ins and
 * refuse models that need one. Any thread may call.
 */
public interface PluginRuntime {

  /**
   * The facts about a model that matter to its backend.
   *
   * @param directory the model's directory; empty: a program describes the model
   * @param runtime the library that its configuration names; empty: none
   */
  record Model(
      String name, String backend, Optional<Path> directory, long version, String runtime) {}

  /**
   * A load of a model by a plug-in. The loading thread makes it; {@link #close} is the last call.
   */
  interface Load extends AutoCloseable {

    /** The values that fill the gaps of the model's configuration. */
    PluginConfig.Defaults defaults();

    /** The backend's functions in this process, in memory of the arena. */
    BackendRecord table(Arena arena);

    /**
     * Returns the parameters with which the backend opens the model.
     *
     * @param instances the model's instances; empty: they are not known yet
     * @param policy tells the name of an instance's host policy
     */
    Map<String, String> parameters(
        PluginDraft draft,
        List<InstancePlacement> instances,
        Function<InstancePlacement, String> policy);

    /** Adds the backend's own batcher, if it has one. */
    void batcher(Arena arena, ModelOptionsRecord options);

    /** Adds to the failure of this load the facts that a backend's message leaves out. */
    NereidException explained(NereidException failure);

    /** Throws if an instance reports that it is not ready. */
    void checkReady();

    /** Fails the requests that the backend still has, after draining took too long. */
    void giveUp();

    /** Releases the plug-in's part of a model that is closed or could not be opened. */
    @Override
    void close();
  }

  /** The knowledge that a repository agent has of one load of a model. */
  interface Agent extends AutoCloseable {

    /** The things that happen to a model, in the order of {@code NRT_AGENT_*}. */
    enum Action {
      /** The model is about to be loaded; the agent may name another directory. */
      LOAD,
      /** The model was loaded. */
      LOAD_COMPLETE,
      /** The model could not be loaded. */
      LOAD_FAIL,
      /** The model is about to be unloaded. */
      UNLOAD,
      /** The model was unloaded. */
      UNLOAD_COMPLETE
    }

    /** Tells the agent of an action; throws the error that the agent answers. */
    void act(Action action);

    /** The model's directory according to the agent. */
    Path location();

    /** Lets the agent forget the model. */
    @Override
    void close();
  }

  /** The settings. */
  PluginOptions options();

  /** The library of a model's backend; empty: no plug-in runs the model. */
  default Optional<Path> find(Model model) {
    return Optional.empty();
  }

  /**
   * The reason why {@link #find} found nothing, as a sentence to put after a full stop or a colon.
   */
  default String missing(Model model) {
    return "a plug-in needs nereid-triton on the class path";
  }

  /**
   * Begins a load; loads the backend's library if it is not loaded yet.
   *
   * @param process the parameters of the separate process that loads the plug-in; empty: this
   *     process loads it
   * @param completed takes the configuration that the backend completed, and returns it with all
   *     defaults
   */
  default Load load(Model model, Map<String, String> process, UnaryOperator<String> completed) {
    throw lacking("backend '" + model.backend() + "' of model '" + model.name() + "'");
  }

  /** The library of the repository agent with this name. */
  default Path agentLibrary(String name) {
    throw lacking("it"); // the caller names it
  }

  /**
   * Tells a repository agent of a model.
   *
   * @param config the model's configuration, in JSON
   * @param location the model's directory
   */
  default Agent agent(ReadOptions.Agent agent, String model, String config, Path location) {
    throw lacking("repository agent '" + agent.name() + "' of model '" + model + "'");
  }

  /** True if a plug-in is the response cache. */
  default boolean hasCache() {
    return false;
  }

  /** The exception for a plug-in that cannot run here. */
  static NereidException lacking(String plugin) {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        plugin + " is a plug-in, which needs nereid-triton on the class path");
  }
}
