package io.nereid.tensorrt;

import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.tensorrt.EngineDescription.ProfileRange;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Descriptions as engines give them, recorded by hand: what is decided from them needs no GPU. */
final class RecordedEngines {

  private RecordedEngines() {}

  /** Images in, scores out; one profile for few rows, one for many. */
  static EngineDescription classifier() {
    return new EngineDescription(
        "classifier",
        List.of(
            input("image", EngineType.FLOAT, -1, 3, 8, 8),
            output("scores", EngineType.HALF, -1, 10)),
        List.of(profile(0, "image", rows(1, 1, 4)), profile(1, "image", rows(2, 16, 32))),
        0,
        Set.of());
  }

  /** Text of any length, and a shape that is an input. */
  static EngineDescription reshaping() {
    return new EngineDescription(
        "reshaping",
        List.of(
            input("data", EngineType.FLOAT, -1),
            new EngineTensor("shape", true, EngineType.INT64, List.of(2L), true, true, true),
            output("out", EngineType.FLOAT, -1, -1)),
        List.of(
            new EngineProfile(
                0,
                Map.of(
                    "data", range(sizes(1), sizes(8), sizes(64)),
                    "shape", range(sizes(2), sizes(2), sizes(2))),
                Map.of("shape", range(sizes(1, 1), sizes(2, 4), sizes(8, 8))))),
        0,
        Set.of());
  }

  static EngineTensor input(String name, EngineType type, long... dims) {
    return new EngineTensor(name, true, type, sizes(dims), false, false, true);
  }

  static EngineTensor output(String name, EngineType type, long... dims) {
    return new EngineTensor(name, false, type, sizes(dims), false, false, true);
  }

  static EngineProfile profile(int index, String input, ProfileRange shapes) {
    return new EngineProfile(index, Map.of(input, shapes), Map.of());
  }

  static ProfileRange range(List<Long> min, List<Long> opt, List<Long> max) {
    return new ProfileRange(min, opt, max);
  }

  static List<Long> sizes(long... sizes) {
    return Arrays.stream(sizes).boxed().toList();
  }

  private static ProfileRange rows(long min, long opt, long max) {
    return range(sizes(min, 3, 8, 8), sizes(opt, 3, 8, 8), sizes(max, 3, 8, 8));
  }
}
