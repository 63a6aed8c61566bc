package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.ResourceCount;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.ResourceStatistics;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Resources that executions hold: their amounts, and the instances that wait. */
final class LimitRecord {

  // NRD_INSTANCE_*
  private static final int WAITS = 1;
  private static final int HOLDS = 2;

  private static final int NO_DEVICE = -1;

  static final StructLayout COUNT = Memory.struct("string name; int count, device");

  static final StructLayout RESOURCE =
      Memory.struct("string name; int device, total, free, waiting")
          .withName("resource_statistics");

  static final StructLayout INSTANCE =
      Memory.struct(
          "int struct_size, state, needed, reserved; long waits; resource_statistics resource",
          RESOURCE);

  private LimitRecord() {}

  /** Writes an array of {@code nrd_resource} and returns its address. */
  static long write(Arena arena, List<ResourceCount> resources) {
    MemorySegment array = arena.allocate(COUNT, resources.size());
    for (int i = 0; i < resources.size(); i++) {
      ResourceCount resource = resources.get(i);
      MemorySegment target = array.asSlice(i * COUNT.byteSize(), COUNT);
      TensorSpecRecord.string(arena, target, offset(COUNT, "name"), resource.name());
      target.set(JAVA_INT, offset(COUNT, "count"), resource.count());
      target.set(JAVA_INT, offset(COUNT, "device"), resource.device().orElse(NO_DEVICE));
    }
    return array.address();
  }

  /** Reads the resources that instances of a runtime's models need now. */
  static List<ResourceStatistics> resources(long runtime) {
    try (Arena arena = Arena.ofConfined()) {
      return StatisticsRecord.readAll(
          arena,
          RESOURCE,
          (array, capacity, count) -> {
            Handles.OfLimits.RUNTIME_RESOURCE_STATS_READ.invokeExact(
                runtime, array, capacity, count);
          },
          LimitRecord::resource);
    }
  }

  private static ResourceStatistics resource(MemorySegment record) {
    long name = offset(RESOURCE, "name");
    int device = record.get(JAVA_INT, offset(RESOURCE, "device"));
    return new ResourceStatistics(
        Memory.readString(record.get(JAVA_LONG, name), record.get(JAVA_LONG, name + Long.BYTES)),
        device == NO_DEVICE ? OptionalInt.empty() : OptionalInt.of(device),
        Integer.toUnsignedLong(record.get(JAVA_INT, offset(RESOURCE, "total"))),
        Integer.toUnsignedLong(record.get(JAVA_INT, offset(RESOURCE, "free"))),
        record.get(JAVA_INT, offset(RESOURCE, "waiting")));
  }

  /** Reads the resources that the instances of a model wait for, by the index of the instance. */
  static List<InstanceStatistics> instances(long model) {
    List<InstanceStatistics> instances = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment record = Memory.sized(arena, INSTANCE);
      while (true) {
        int status;
        try {
          status =
              (int)
                  Handles.OfLimits.MODEL_INSTANCE_STATS_READ.invokeExact(
                      model, instances.size(), record.address());
        } catch (Throwable t) {
          throw NativeCalls.unexpected(t);
        }
        if (status != StatusCode.OK.number()) {
          return List.copyOf(instances);
        }
        int state = record.get(JAVA_INT, offset(INSTANCE, "state"));
        instances.add(
            new InstanceStatistics(
                state == HOLDS,
                state == WAITS
                    ? Optional.of(resource(record.asSlice(offset(INSTANCE, "resource"), RESOURCE)))
                    : Optional.empty(),
                Integer.toUnsignedLong(record.get(JAVA_INT, offset(INSTANCE, "needed"))),
                record.get(JAVA_LONG, offset(INSTANCE, "waits"))));
      }
    }
  }
}
