package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** An {@code nrt_agent}: a repository agent, a plug-in that is told what happens to models. */
public final class PluginAgentHandle {

  /** What happens to a model, in the order of {@code NRT_AGENT_*}. */
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
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      long error = ErrorRecord.allocate(arena);
      int status;
      try {
        status =
            (int)
                PluginLibrary.Functions.AGENT_OPEN.invokeExact(
                    PluginLibrary.string(arena, name),
                    PluginLibrary.string(arena, library),
                    out.address(),
                    error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, error);
      return new PluginAgentHandle(out.get(JAVA_LONG, 0));
    }
  }

  /** Lets it end, and unloads its library; its models are closed. */
  public void close() {
    try {
      PluginLibrary.Functions.AGENT_CLOSE.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** What it knows of one load of a model. */
  public static final class Model implements AutoCloseable {
    private final long address;

    private Model(long address) {
      this.address = address;
    }

    /** Tells it what happens to the model; throws what it answers. */
    public void act(Action action) {
      try (Arena arena = Arena.ofConfined()) {
        long error = ErrorRecord.allocate(arena);
        int status;
        try {
          status =
              (int)
                  PluginLibrary.Functions.AGENT_MODEL_ACT.invokeExact(
                      address, action.ordinal(), error);
        } catch (Throwable t) {
          throw NativeCalls.unexpected(t);
        }
        ErrorRecord.check(status, error);
      }
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
      try {
        PluginLibrary.Functions.AGENT_MODEL_CLOSE.invokeExact(address);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
    }
  }

  /**
   * Lets it know of a model.
   *
   * @param config the model's configuration, in JSON
   * @param location the model's directory
   */
  public Model open(String model, String config, String location, Map<String, String> parameters) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      long error = ErrorRecord.allocate(arena);
      long settings = ModelOptionsRecord.parameters(arena, parameters);
      int status;
      try {
        status =
            (int)
                PluginLibrary.Functions.AGENT_MODEL_OPEN.invokeExact(
                    address,
                    PluginLibrary.string(arena, model),
                    PluginLibrary.string(arena, config),
                    PluginLibrary.string(arena, location),
                    settings,
                    parameters.size(),
                    out.address(),
                    error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, error);
      return new Model(out.get(JAVA_LONG, 0));
    }
  }
}
