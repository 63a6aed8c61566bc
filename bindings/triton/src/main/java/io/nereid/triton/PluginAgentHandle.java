package io.nereid.triton;

import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.NativeCalls;
import io.nereid.internal.model.PluginRuntime;
import java.nio.file.Path;
import java.util.Map;

/** An {@code nrt_agent}: a repository agent, a plug-in that is called at steps of models' lives. */
final class PluginAgentHandle {

  private final long address;

  private PluginAgentHandle(long address) {
    this.address = address;
  }

  /** Loads an agent's library, and initialises the agent. */
  static PluginAgentHandle open(String name, String library) {
    return new PluginAgentHandle(
        NativeCalls.make((arena, out, error) ->
            (int)
                PluginLibrary.Functions.AGENT_OPEN.invokeExact(
                    PluginLibrary.string(arena, name),
                    PluginLibrary.string(arena, library),
                    out,
                    error)));
  }

  /** Finalises the agent, whose models are closed, and unloads its library. */
  void close() {
    NativeCalls.run(() -> {
      PluginLibrary.Functions.AGENT_CLOSE.invokeExact(address);
    });
  }

  private static final class Model implements PluginRuntime.Agent {
    private final long address;

    private Model(long address) {
      this.address = address;
    }

    @Override
    public void act(Action action) {
      NativeCalls.check(error ->
          (int)
              PluginLibrary.Functions.AGENT_MODEL_ACT.invokeExact(
                  address, action.ordinal(), error));
    }

    @Override
    public Path location() {
      return Path.of(
          PluginUpcalls.taken((taker, take) -> {
            PluginLibrary.Functions.AGENT_MODEL_LOCATION.invokeExact(address, taker, take);
          }));
    }

    @Override
    public void close() {
      NativeCalls.run(() -> {
        PluginLibrary.Functions.AGENT_MODEL_CLOSE.invokeExact(address);
      });
    }
  }

  /**
   * Opens a model with the agent.
   *
   * @param config the model's configuration, in JSON
   * @param location the model's directory
   */
  PluginRuntime.Agent open(
      String model, String config, Path location, Map<String, String> parameters) {
    return new Model(
        NativeCalls.make((arena, out, error) ->
            (int)
                PluginLibrary.Functions.AGENT_MODEL_OPEN.invokeExact(
                    address,
                    PluginLibrary.string(arena, model),
                    PluginLibrary.string(arena, config),
                    PluginLibrary.string(arena, location.toString()),
                    ModelOptionsRecord.parameters(arena, parameters).address(),
                    parameters.size(),
                    out,
                    error)));
  }
}
