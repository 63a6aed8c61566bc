package io.nereid.triton;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.config.PluginConfig;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.NativeCalls;
import io.nereid.model.InstanceGroup.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An {@code nrt_backend}: a backend that is a plug-in. Its owner closes it after its models. */
final class PluginBackendHandle {

  /** The kinds, in the order of Triton's numbers. */
  private static final Kind[] KINDS = {Kind.AUTO, Kind.CPU, Kind.GPU, Kind.MODEL};

  private static final int MOST_GROUPS = 8;

  /** The longs of an {@code nrt_backend_info}: four ints, the kinds, and the counts of groups. */
  private static final int INFO_LONGS = 14;

  /** The time that closing waits for inferences that the backend began. */
  private static final long PATIENCE_NS = Duration.ofSeconds(30).toNanos();

  private final long address;

  private PluginBackendHandle(long address) {
    this.address = address;
  }

  /**
   * Loads a backend's library, and initialises the backend.
   *
   * @param directory the backend's directory
   * @param config its settings
   */
  static PluginBackendHandle open(
      String name, String directory, String library, Map<String, String> config) {
    return new PluginBackendHandle(
        NativeCalls.make((arena, out, error) ->
            (int)
                PluginLibrary.Functions.BACKEND_OPEN.invokeExact(
                    PluginLibrary.string(arena, name),
                    PluginLibrary.string(arena, directory),
                    PluginLibrary.string(arena, library),
                    ModelOptionsRecord.parameters(arena, config).address(),
                    config.size(),
                    out,
                    error)));
  }

  /** The record by which the core knows the backend, in memory of the arena. */
  BackendRecord table(Arena arena) {
    BackendRecord table = BackendRecord.empty(arena);
    NativeCalls.run(() -> {
      PluginLibrary.Functions.BACKEND_TABLE.invokeExact(address, table.address());
    });
    return table;
  }

  /** The instance groups that the backend prefers for models without configured ones. */
  List<PluginConfig.Preferred> preferredGroups() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(JAVA_LONG, INFO_LONGS);
      info.set(JAVA_INT, 0, (int) info.byteSize());
      NativeCalls.run(() -> {
        PluginLibrary.Functions.BACKEND_INFO_READ.invokeExact(address, info.address());
      });
      List<PluginConfig.Preferred> groups = new ArrayList<>();
      int count = Math.min(MOST_GROUPS, info.getAtIndex(JAVA_INT, 2));
      for (int i = 0; i < count; i++) {
        Kind kind = KINDS[info.getAtIndex(JAVA_INT, 4 + i)];
        groups.add(new PluginConfig.Preferred(kind, info.getAtIndex(JAVA_LONG, 6 + i)));
      }
      return groups;
    }
  }

  /** Finalises the backend, and unloads its library. */
  void close() {
    NativeCalls.run(() -> {
      PluginLibrary.Functions.BACKEND_CLOSE.invokeExact(address, PATIENCE_NS);
    });
  }
}
