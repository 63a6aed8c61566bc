package io.nereid.internal.model;

import io.nereid.internal.ffi.CoreLog;
import io.nereid.model.InstanceGroup;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** The places of a model's instances, by its instance groups. Any thread may call. */
final class Placements {

  /** Instances run on the processor, or on several GPUs. */
  static final int NO_DEVICE = -1;

  private Placements() {}

  /**
   * Returns one placement for each instance of the groups.
   *
   * @param passive whether those of passive groups, which get no requests, are returned, or the
   *     others
   * @param devices numbers of the GPUs that the backend can use; empty: it runs on the processor
   * @param batchesInFlight the batches that an instance executes at once, each of which counts as
   *     an instance
   */
  static List<InstancePlacement> of(
      List<InstanceGroup> groups, boolean passive, List<Integer> devices, int batchesInFlight) {
    List<InstancePlacement> placements = new ArrayList<>();
    for (InstanceGroup group : groups) {
      if (group.passive() != passive) {
        continue;
      }
      for (OptionalInt device : devices(group, devices)) {
        for (int i = 0; i < group.count() * batchesInFlight; i++) {
          placements.add(new InstancePlacement(group, device));
        }
      }
    }
    return placements;
  }

  private static List<OptionalInt> devices(InstanceGroup group, List<Integer> usable) {
    boolean onProcessor =
        switch (group.kind()) {
          case CPU, MODEL -> true;
          case GPU, AUTO -> usable.isEmpty();
        };
    if (onProcessor) {
      return List.of(OptionalInt.empty());
    }
    List<Integer> wanted = group.devices().isEmpty() ? usable : group.devices();
    for (int device : wanted) {
      if (!usable.contains(device)) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            "instance group '%s' asks for GPU %s, the backend can use %s"
                .formatted(group.name(), device, usable));
      }
    }
    return wanted.stream().map(OptionalInt::of).toList();
  }

  /** A GPU that the instances use; for instances that the backend places, it chooses. */
  static OptionalInt firstGpu(List<InstancePlacement> placements, List<Integer> devices) {
    for (InstancePlacement placement : placements) {
      boolean chosen = placement.group().kind() == InstanceGroup.Kind.MODEL && !devices.isEmpty();
      if (chosen || placement.device().isPresent()) {
        return OptionalInt.of(placement.device().orElseGet(devices::getFirst));
      }
    }
    return OptionalInt.empty();
  }

  /** The GPU that all instances run on, or {@link #NO_DEVICE}. */
  static int onlyGpu(List<InstancePlacement> placements) {
    int[] gpus =
        placements.stream()
            .mapToInt(placement -> placement.device().orElse(NO_DEVICE))
            .distinct()
            .toArray();
    return gpus.length == 1 ? gpus[0] : NO_DEVICE;
  }

  /** Warns of instances that run on the processor although their groups ask for GPUs. */
  static void warnOfGpus(ModelSpec spec) {
    for (InstanceGroup group : spec.instanceGroups()) {
      if (group.kind() == InstanceGroup.Kind.GPU) {
        CoreLog.LOGGER.log(
            Level.WARNING,
            "model ''{0}'' asks for GPUs in instance group ''{1}'', but its backend runs on the"
                + " processor: the instances run there",
            spec.name(),
            group.name());
      }
    }
  }
}
