package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.HostPolicy;
import io.nereid.model.ResourceCount;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.List;

/**
 * The resources that an execution of an instance holds, and the place where the instance's thread
 * runs.
 *
 * @param priority the rank in getting resources; 1 is the most urgent, {@link #LAST} and {@link
 *     #IDLE} come after all others
 */
public record InstanceRecord(List<ResourceCount> resources, int priority, HostPolicy hostPolicy) {

  /** The priority of an instance that gets resources when no other one waits for them. */
  public static final int LAST = -2;

  /**
   * Like {@link #LAST}, and the instance's thread gets a processor only when no other thread wants
   * it.
   */
  public static final int IDLE = -1;

  static final StructLayout LAYOUT =
      Memory.struct(
          "long resources; int resource_count, priority; long cores; int core_count, "
              + "numa_node");

  /** Writes an array of {@code nrd_instance_options} and returns its address. */
  static long write(Arena arena, List<InstanceRecord> instances) {
    MemorySegment array = arena.allocate(LAYOUT, instances.size());
    for (int i = 0; i < instances.size(); i++) {
      instances.get(i).write(arena, array.asSlice(i * LAYOUT.byteSize(), LAYOUT));
    }
    return array.address();
  }

  private void write(Arena arena, MemorySegment target) {
    target.set(JAVA_LONG, offset(LAYOUT, "resources"), LimitRecord.write(arena, resources));
    target.set(JAVA_INT, offset(LAYOUT, "resource_count"), resources.size());
    target.set(JAVA_INT, offset(LAYOUT, "priority"), priority);
    int[] cores = hostPolicy.cores().stream().mapToInt(Integer::intValue).toArray();
    target.set(JAVA_LONG, offset(LAYOUT, "cores"), arena.allocateFrom(JAVA_INT, cores).address());
    target.set(JAVA_INT, offset(LAYOUT, "core_count"), cores.length);
    target.set(JAVA_INT, offset(LAYOUT, "numa_node"), hostPolicy.numaNode().orElse(-1));
  }
}
