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

  /**
   * A selector among some of an engine's profiles.
   *
   * @param named numbers of profiles as the configuration writes them; empty: all
   */
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
                      "model '"
                          + model
                          + "': expected the number of a profile from 0 to "
                          + (engine.profiles().size() - 1)
                          + " in the instance group's profile, got '"
                          + name
                          + "'")));
    }
    return chosen;
  }

  /** The profiles that it chooses from. */
  List<EngineProfile> profiles() {
    return profiles;
  }

  /** Throws when batches could have more rows than any of the profiles allows. */
  void checkBatchSize(ModelSpec spec) {
    if (spec.maxBatchSize() == 0) {
      return;
    }
    long most = FirstDimension.maxBatchSize(spec, engine, profiles);
    if (spec.maxBatchSize() > most) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "model '"
              + model
              + "': expected a max_batch_size of at most "
              + most
              + ", which is what the profiles "
              + profiles.stream().map(EngineProfile::index).toList()
              + " of the instance group allow, got "
              + spec.maxBatchSize());
    }
  }

  /**
   * The profile for shapes.
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

  /**
   * Returns how far the shapes are from the profile's optimum; -1: the profile does not allow them.
   */
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
    StringBuilder message = new StringBuilder("no optimization profile allows the shapes: got ");
    for (int i = 0; i < shapes.length; i++) {
      message
          .append(i == 0 ? "" : ", ")
          .append(inputs.get(i).name())
          .append(' ')
          .append(Arrays.toString(shapes[i]));
      if (values[i] != null) {
        message.append(" holding ").append(Arrays.toString(values[i]));
      }
    }
    for (EngineProfile profile : profiles) {
      message.append(profile == profiles.getFirst() ? "; expected in profile " : "; in profile ");
      message.append(profile.index());
      for (EngineTensor input : inputs) {
        message
            .append(input == inputs.getFirst() ? ": " : ", ")
            .append(input.name())
            .append(' ')
            .append(profile.shapes().get(input.name()));
        if (profile.values().containsKey(input.name())) {
          message.append(" holding ").append(profile.values().get(input.name()));
        }
      }
    }
    return message.toString();
  }
}
