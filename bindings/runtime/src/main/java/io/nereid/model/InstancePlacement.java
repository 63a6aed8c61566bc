package io.nereid.model;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Where one instance of a model runs.
 *
 * @param group the group that it belongs to
 * @param device the number of its GPU; empty: it runs on the processor
 */
public record InstancePlacement(InstanceGroup group, OptionalInt device) {

  /**
   * One for each instance of the groups.
   *
   * @param devices numbers of the GPUs that the backend can use; empty: it runs on the processor
   * @param batchesInFlight how often each instance is there, for as many batches at once
   */
  public static List<InstancePlacement> of(
      List<InstanceGroup> groups, List<Integer> devices, int batchesInFlight) {
    List<InstancePlacement> placements = new ArrayList<>();
    for (InstanceGroup group : groups) {
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
            "instance group '"
                + group.name()
                + "' asks for GPU "
                + device
                + ", the backend can use "
                + usable);
      }
    }
    return wanted.stream().map(OptionalInt::of).toList();
  }
}
