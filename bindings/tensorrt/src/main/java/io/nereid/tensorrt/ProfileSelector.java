package io.nereid.tensorrt;

import io.nereid.model.ModelSpec;
import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.tensorrt.EngineDescription.ProfileRange;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Chooses the optimization profile of a batch: among those that allow its shapes, the one whose
 * optimum is nearest, the first of several.
 */
final class ProfileSelector {

  private final String model;
  private final EngineDescription engine;
  private final List<EngineTensor> inputs;
  private final List<EngineProfile> profiles;

  /** Makes a selector among the profiles that the configuration names, or among all. */
  ProfileSelector(String model, EngineDescription engine, List<String> named) {
    this.model = model;
    this.engine = engine;
    inputs = engine.inputs();
    profiles = named.isEmpty() ? engine.profiles() : named(model, engine, named);
  }

  private static List<EngineProfile> named(
      String model, EngineDescription engine, List<String> named) {
    List<EngineProfile> chosen = new ArrayList<>();
    for (String name : named) {
      chosen.add(
          engine.profiles().stream()
              .filter(profile -> Integer.toString(profile.index()).equals(name.strip()))
              .findFirst()
              .orElseThrow(() ->
                  new NereidException(
                      StatusCode.INVALID_ARGUMENT,
                      ("model '%s': expected the number of a profile from 0 to %s in"
                              + " the instance group's profile, got '%s'")
                          .formatted(model, engine.profiles().size() - 1, name))));
    }
    return chosen;
  }

  List<EngineProfile> profiles() {
    return profiles;
  }

  void checkBatchSize(ModelSpec spec) {
    List<Integer> numbers = profiles.stream().map(EngineProfile::index).toList();
    FirstDimension.checkBatchSize(
        spec, engine, profiles, "the profiles " + numbers + " of the instance group");
  }

  /**
   * Chooses the profile for shapes.
   *
   * @param shapes of the engine's inputs in its order
   * @param values of those inputs that shapes are computed from; null for the others
   */
  EngineProfile select(long[][] shapes, long[][] values) {
    EngineProfile best = null;
    long bestDistance = Long.MAX_VALUE;
    for (EngineProfile profile : profiles) {
      long distance = distance(profile, shapes, values);
      if (distance >= 0 && distance < bestDistance) {
        best = profile;
        bestDistance = distance;
      }
    }
    if (best == null) {
      throw new NereidException(StatusCode.INVALID_ARGUMENT, refusal(shapes, values));
    }
    return best;
  }

  /** Returns the distance of the shapes from the profile's optimum; -1: not allowed. */
  private long distance(EngineProfile profile, long[][] shapes, long[][] values) {
    long distance = 0;
    for (int i = 0; i < shapes.length; i++) {
      ProfileRange range = profile.shapes().get(inputs.get(i).name());
      if (!range.contains(shapes[i])) {
        return -1;
      }
      distance += range.distance(shapes[i]);
      ProfileRange allowed = profile.values().get(inputs.get(i).name());
      if (values[i] != null && allowed != null) {
        if (!allowed.contains(values[i])) {
          return -1;
        }
        distance += allowed.distance(values[i]);
      }
    }
    return distance;
  }

  private String refusal(long[][] shapes, long[][] values) {
    List<String> got = new ArrayList<>();
    for (int i = 0; i < shapes.length; i++) {
      got.add(text(inputs.get(i), Arrays.toString(shapes[i]), Arrays.toString(values[i])));
    }
    List<String> expected = new ArrayList<>();
    for (EngineProfile profile : profiles) {
      List<String> ranges = new ArrayList<>();
      for (EngineTensor input : inputs) {
        String name = input.name();
        ranges.add(text(input, "" + profile.shapes().get(name), "" + profile.values().get(name)));
      }
      expected.add("in profile " + profile.index() + ": " + String.join(", ", ranges));
    }
    return "no optimization profile allows the shapes: got %s; expected %s"
        .formatted(String.join(", ", got), String.join("; ", expected));
  }

  private static String text(EngineTensor input, String shape, String values) {
    return input.name() + " " + shape + (values.equals("null") ? "" : " holding " + values);
  }
}
