package io.nereid.internal.model;

import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.ObjectiveRecord;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.ObjectiveStatistics;
import java.util.List;
import java.util.OptionalInt;

/** Writes the objective of a model, if it has one, into the options for the core. */
final class ObjectiveOptions {

  private ObjectiveOptions() {}

  /**
   * Adds the objective, if there is one.
   *
   * @param learned the costs of executions that an earlier load measured
   */
  static void add(
      ModelOptionsRecord options,
      ModelSpec spec,
      List<InstancePlacement> placements,
      List<ObjectiveStatistics.Cost> learned) {
    if (spec.objective().isEmpty()) {
      return;
    }
    int[] kinds = placements.stream().mapToInt(ObjectiveOptions::kind).toArray();
    boolean onOne = placements.stream().map(InstancePlacement::device).distinct().count() == 1;
    OptionalInt device = placements.getFirst().device();
    String share = "";
    int width = 1;
    if (onOne && device.isPresent()) {
      share = "gpu " + device.getAsInt();
      width = placements.size();
    } else if (onOne && spec.backendName().equals(ModelLoader.ONNXRUNTIME)) {
      share = "processors"; // other backends may only wait there
      width = Runtime.getRuntime().availableProcessors();
    }
    options.objective(
        new ObjectiveRecord.Given(spec.objective().get(), share, width, learned, kinds));
  }

  /** Instances of one kind take the same time: those on the processor, or on one GPU. */
  private static int kind(InstancePlacement placement) {
    return placement.device().isPresent() ? placement.device().getAsInt() + 1 : 0;
  }
}
