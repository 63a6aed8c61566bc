package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An {@code nrt_backend}: a backend that is a plug-in. Its owner closes it after its models. */
public final class PluginBackendHandle {

  /**
   * A group of instances that a backend prefers.
   *
   * @param kind the number that Triton has for the kind
   * @param count how many; 0: any number
   */
  public record PreferredGroup(int kind, long count) {}

  private static final int MOST_GROUPS = 8;

  /** The time that closing waits for inferences that the backend began. */
  private static final long PATIENCE_NS = Duration.ofSeconds(30).toNanos();

  private static final StructLayout INFO =
      Memory.struct(
          "int struct_size, parallel_instance_loading, preferred_group_count, reserved; "
              + "int["
              + MOST_GROUPS
              + "] preferred_kind; "
              + "long["
              + MOST_GROUPS
              + "] preferred_instances");

  private final long address;

  private PluginBackendHandle(long address) {
    this.address = address;
  }

  /**
   * Loads a backend's library, and lets it begin.
   *
   * @param directory the backend's own
   * @param config its settings
   */
  public static PluginBackendHandle open(
      String name, String directory, String library, Map<String, String> config) {
    return new PluginBackendHandle(
        NativeCalls.make((arena, out, error) ->
            (int)
                PluginLibrary.Functions.BACKEND_OPEN.invokeExact(
                    PluginLibrary.string(arena, name),
                    PluginLibrary.string(arena, directory),
                    PluginLibrary.string(arena, library),
                    ModelOptionsRecord.parameters(arena, config),
                    config.size(),
                    out,
                    error)));
  }

  /** The record by which the core knows the backend, in memory of the arena. */
  public BackendRecord table(Arena arena) {
    BackendRecord table = BackendRecord.empty(arena);
    NativeCalls.run(() -> {
      PluginLibrary.Functions.BACKEND_TABLE.invokeExact(address, table.address());
    });
    return table;
  }

  /** The groups that it prefers for models whose configurations leave them open. */
  public List<PreferredGroup> preferredGroups() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = Memory.sized(arena, INFO);
      NativeCalls.run(() -> {
        PluginLibrary.Functions.BACKEND_INFO_READ.invokeExact(address, info.address());
      });
      List<PreferredGroup> groups = new ArrayList<>();
      int count = Math.min(MOST_GROUPS, info.get(JAVA_INT, offset(INFO, "preferred_group_count")));
      for (int i = 0; i < count; i++) {
        groups.add(
            new PreferredGroup(
                info.get(JAVA_INT, offset(INFO, "preferred_kind") + (long) i * Integer.BYTES),
                info.get(JAVA_LONG, offset(INFO, "preferred_instances") + (long) i * Long.BYTES)));
      }
      return groups;
    }
  }

  /** Lets it end, and unloads its library. */
  public void close() {
    NativeCalls.run(() -> {
      PluginLibrary.Functions.BACKEND_CLOSE.invokeExact(address, PATIENCE_NS);
    });
  }
}
