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
 * The plug-ins made for Triton, as models need them. The methods of this interface itself find
 * none, and refuse what needs one. Any thread may call.
 */
public interface PluginRuntime {

  /**
   * A model, as far as it matters for its backend.
   *
   * @param directory its directory; empty: a program describes it
   * @param runtime the library that its configuration names; empty: none
   */
  record Model(
      String name, String backend, Optional<Path> directory, long version, String runtime) {}

  /** A load of a model by a plug-in. The thread that loads makes it; closing it comes last. */
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

    /** Lets the backend say which requests go together, where it does. */
    void batcher(Arena arena, ModelOptionsRecord options);

    /** Adds to the failure of this load what the words of a backend leave out. */
    NereidException explained(NereidException failure);

    /** Throws when an instance says that it is not ready. */
    void checkReady();

    /** Fails what the backend still has, after draining took too long. */
    void giveUp();

    /** The model is closed, or could not be opened. */
    @Override
    void close();
  }

  /** The knowledge that a repository agent has of one load of a model. */
  interface Agent extends AutoCloseable {

    /** The things that happen to a model, in the order of {@code NRT_AGENT_*}. */
    enum Action {
      /** It is about to be loaded; the agent may say that it is elsewhere. */
      LOAD,
      /** It was loaded. */
      LOAD_COMPLETE,
      /** It could not be loaded. */
      LOAD_FAIL,
      /** It is about to be unloaded. */
      UNLOAD,
      /** It was unloaded. */
      UNLOAD_COMPLETE
    }

    /** Tells the agent of an action; throws what the agent answers. */
    void act(Action action);

    /** The directory where the agent says that the model is. */
    Path location();

    /** The agent forgets the model. */
    @Override
    void close();
  }

  /** The settings. */
  PluginOptions options();

  /** The library of a model's backend; empty: no plug-in runs the model. */
  default Optional<Path> find(Model model) {
    return Optional.empty();
  }

  /** The reason why {@link #find} found nothing, in words that follow a full stop or a colon. */
  default String missing(Model model) {
    return "a plug-in needs nereid-triton on the class path";
  }

  /**
   * Begins a load; the backend's library is loaded where that was not so.
   *
   * @param process the parameters of the process that is the only one to load the plug-in; empty:
   *     it is this one
   * @param completed takes the configuration that the backend completes, and gives it with all
   *     defaults
   */
  default Load load(Model model, Map<String, String> process, UnaryOperator<String> completed) {
    throw lacking("backend '" + model.backend() + "' of model '" + model.name() + "'");
  }

  /** The library of the repository agent with this name. */
  default Path agentLibrary(String name) {
    throw lacking("it"); // who asks names it
  }

  /**
   * Lets a repository agent know of a model.
   *
   * @param config the model's configuration, in JSON
   * @param location the model's directory
   */
  default Agent agent(ReadOptions.Agent agent, String model, String config, Path location) {
    throw lacking("repository agent '" + agent.name() + "' of model '" + model + "'");
  }

  /** True if a plug-in keeps the responses. */
  default boolean hasCache() {
    return false;
  }

  /** The exception for a plug-in that nothing runs here. */
  static NereidException lacking(String plugin) {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        plugin + " is a plug-in, which needs nereid-triton on the class path");
  }
}
