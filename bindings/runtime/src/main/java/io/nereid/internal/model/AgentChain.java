package io.nereid.internal.model;

import io.nereid.internal.config.ReadOptions;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.model.PluginRuntime.Agent.Action;
import io.nereid.model.ModelStore;
import io.nereid.types.NereidException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The repository agents of one load of a model, in the order of its configuration. One thread at a
 * time tells them the steps of the load; {@link #close} is the last.
 */
public final class AgentChain implements ReadOptions.Agents, AutoCloseable {

  private final PluginRuntime plugins;
  private final List<PluginRuntime.Agent> told = new ArrayList<>();
  private final List<Runnable> contents = new ArrayList<>();
  private boolean loaded;

  /** Makes a chain that has no agents yet. */
  public AgentChain(PluginRuntime plugins) {
    this.plugins = plugins;
  }

  /**
   * Tells the agents that the model is about to be loaded; each gets the directory that the one
   * before it returned.
   */
  @Override
  public Path locate(
      String model, Function<Path, String> config, Path directory, List<ReadOptions.Agent> agents) {
    Path location = directory;
    for (ReadOptions.Agent agent : agents) {
      PluginRuntime.Agent one = plugins.agent(agent, model, config.apply(location), location);
      told.add(one);
      one.act(Action.LOAD);
      location = one.location();
    }
    return location;
  }

  /**
   * Lets a store check and open a model, and returns the directory to read; this chain owns the
   * copy.
   */
  public Path open(ModelStore store, Path place) {
    ModelStore.Content content = store.open(place);
    contents.add(content.release());
    return content.place();
  }

  /**
   * Tells the agents that the model was loaded, or could not be.
   *
   * @param keepsFiles whether its backend may still read its files
   */
  public void ended(boolean success, boolean keepsFiles) {
    loaded = success;
    tell(success ? Action.LOAD_COMPLETE : Action.LOAD_FAIL);
    if (!success) {
      forget();
    } else if (!keepsFiles) {
      releaseContents();
    }
  }

  /** Tells the agents that the load is about to be unloaded. */
  public void leaving() {
    if (loaded) {
      tell(Action.UNLOAD);
    }
  }

  /** Tells the agents that the load is gone, and closes them. */
  @Override
  public void close() {
    if (loaded) {
      tell(Action.UNLOAD_COMPLETE);
      loaded = false;
    } else {
      tell(Action.LOAD_FAIL);
    }
    forget();
  }

  private void tell(Action action) {
    for (PluginRuntime.Agent agent : told) {
      try {
        agent.act(action);
      } catch (NereidException e) {
        CoreLog.LOGGER.log(
            Level.WARNING, "a repository agent failed on " + action + ": " + e.getMessage());
      }
    }
  }

  private void forget() {
    told.reversed().forEach(PluginRuntime.Agent::close);
    told.clear();
    releaseContents();
  }

  private void releaseContents() {
    contents.forEach(Runnable::run);
    contents.clear();
  }
}
