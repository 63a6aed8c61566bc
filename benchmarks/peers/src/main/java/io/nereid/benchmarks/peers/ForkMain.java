package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.ForkRunner.Timing;
import io.nereid.benchmarks.peers.Plan.Case;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/** Runs the cases of a plan for one side, one after the other, in a process of its own. */
final class ForkMain {

  private static final Duration STEP = Duration.ofMillis(20);

  private ForkMain() {}

  /**
   * Runs the cases of a plan that a side can.
   *
   * @param args the side, the plan, seconds to warm up and to measure, the project, the directory
   *     of the peers, and the file for the results
   */
  public static void main(String[] args) throws IOException {
    Side side = Side.valueOf(args[0]);
    Plan plan = Plan.valueOf(args[1]);
    Timing timing = new Timing(seconds(args[2]), seconds(args[3]));
    Places places = new Places(Path.of(args[4]), Path.of(args[5]));
    Map<Workload, List<Case>> byWorkload = new EnumMap<>(Workload.class);
    for (Case each : plan.cases()) {
      byWorkload.computeIfAbsent(each.workload(), key -> new ArrayList<>()).add(each);
    }
    Map<String, Object> results = new LinkedHashMap<>();
    byWorkload.forEach((workload, cases) -> {
      try (Contender contender = open(side, workload, places)) {
        // The JVM's code for one case serves the others: no case is measured before all ran.
        for (Case each : cases) {
          Load.run(contender, each, timing.warmUp(), STEP);
        }
        for (Case each : cases) {
          Load.Result seen = Load.run(contender, each, timing.warmUp(), timing.measured());
          results.put(each.id(), seen.toMap());
        }
      }
    });
    Files.writeString(Path.of(args[6]), JSON.std.asString(results));
  }

  private static Duration seconds(String text) {
    return Duration.ofNanos((long) (Double.parseDouble(text) * 1e9));
  }

  private static Contender open(Side side, Workload workload, Places places) {
    return switch (workload) {
      case IDENTITY_SMALL, IDENTITY_LARGE ->
          switch (side) {
            case NEREID -> new NereidIdentity(places.repository(), workload);
            case TRITON -> new TritonIdentity(places, workload, TritonIdentity.Calls.FOREIGN);
            case TRITON_JAVACPP ->
                new TritonIdentity(places, workload, TritonIdentity.Calls.JAVACPP);
            case ONNXRUNTIME, ONNXRUNTIME_ASLEEP, DJL ->
                throw new IllegalArgumentException(side.label + " has no identity model");
          };
      case DIGITS, MINILM -> {
        OnnxModel onnx = OnnxModel.of(workload, places);
        yield switch (side) {
          case NEREID -> new NereidOnnx(onnx);
          case ONNXRUNTIME -> new OrtOnnx(onnx, true);
          case ONNXRUNTIME_ASLEEP -> new OrtOnnx(onnx, false);
          case DJL -> new DjlOnnx(onnx);
          case TRITON, TRITON_JAVACPP ->
              throw new IllegalArgumentException(side.label + " has no backend for ONNX here");
        };
      }
    };
  }
}
