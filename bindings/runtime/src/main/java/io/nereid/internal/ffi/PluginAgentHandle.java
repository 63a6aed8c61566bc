package io.nereid.internal.ffi;

import java.util.Map;

/** An {@code nrt_agent}: a repository agent, a plug-in that is told what happens to models. */
public final class PluginAgentHandle {

  /** The things that happen to a model, in the order of {@code NRT_AGENT_*}. */
  public enum Action {
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

  private final long address;

  private PluginAgentHandle(long address) {
    this.address = address;
  }

  /** Loads an agent's library, and lets it begin. */
  public static PluginAgentHandle open(String name, String library) {
    return new PluginAgentHandle(
        NativeCalls.make((arena, out, error) ->
            (int)
                PluginLibrary.Functions.AGENT_OPEN.invokeExact(
                    PluginLibrary.string(arena, name),
                    PluginLibrary.string(arena, library),
                    out,
                    error)));
  }

  /** Lets it end, and unloads its library; its models are closed. */
  public void close() {
    NativeCalls.run(() -> {
      PluginLibrary.Functions.AGENT_CLOSE.invokeExact(address);
    });
  }

  /** The agent's knowledge of one load of a model. */
  public static final class Model implements AutoCloseable {
    private final long address;

    private Model(long address) {
      this.address = address;
    }

    /** Tells it what happens to the model; throws what it answers. */
    public void act(Action action) {
      NativeCalls.check(error ->
          (int)
              PluginLibrary.Functions.AGENT_MODEL_ACT.invokeExact(
                  address, action.ordinal(), error));
    }

    /** The directory where it says that the model is. */
    public String location() {
      return PluginUpcalls.taken((taker, take) -> {
        PluginLibrary.Functions.AGENT_MODEL_LOCATION.invokeExact(address, taker, take);
      });
    }

    /** Forgets the model. */
    @Override
    public void close() {
      NativeCalls.run(() -> {
        PluginLibrary.Functions.AGENT_MODEL_CLOSE.invokeExact(address);
      });
    }
  }

  /**
   * Lets it know of a model.
   *
   * @param config the model's configuration, in JSON
   * @param location the model's directory
   */
  public Model open(String model, String config, String location, Map<String, String> parameters) {
    return new Model(
        NativeCalls.make((arena, out, error) ->
            (int)
                PluginLibrary.Functions.AGENT_MODEL_OPEN.invokeExact(
                    address,
                    PluginLibrary.string(arena, model),
                    PluginLibrary.string(arena, config),
                    PluginLibrary.string(arena, location),
                    ModelOptionsRecord.parameters(arena, parameters),
                    parameters.size(),
                    out,
                    error)));
  }
}
