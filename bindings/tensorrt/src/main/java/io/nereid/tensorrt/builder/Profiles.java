package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.NativeObjects;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.nvinfer.IBuilder;
import org.bytedeco.tensorrt.nvinfer.IBuilderConfig;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvinfer.IOptimizationProfile;
import org.bytedeco.tensorrt.nvinfer.ITensor;

/** Checks the optimisation profiles against the network, and gives them to TensorRT. */
final class Profiles {

  /**
   * An input of a network.
   *
   * @param dims -1: any size
   * @param shape whether shapes are computed from its values, so that ranges are of values
   */
  record NetworkInput(String name, List<Long> dims, boolean shape) {

    boolean needsRange() {
      return shape || dims.contains(-1L);
    }
  }

  private Profiles() {}

  static void add(
      IBuilder builder,
      IBuilderConfig config,
      INetworkDefinition network,
      List<List<ShapeRange>> profiles) {
    Map<String, NetworkInput> inputs = inputs(network);
    check(inputs, profiles);
    for (int i = 0; i < profiles.size(); i++) {
      IOptimizationProfile profile = builder.createOptimizationProfile();
      boolean taken = profile != null;
      for (ShapeRange range : profiles.get(i)) {
        taken = taken && set(profile, range, inputs.get(range.input()).shape());
      }
      if (!taken || config.addOptimizationProfile(profile) < 0) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            "TensorRT does not take the shapes of optimisation profile %s, %s"
                .formatted(i, profiles.get(i)));
      }
    }
  }

  /** Throws unless each profile has a range that fits for each input that needs one. */
  static void check(Map<String, NetworkInput> inputs, List<List<ShapeRange>> profiles) {
    List<List<ShapeRange>> all = profiles.isEmpty() ? List.of(List.of()) : profiles;
    for (List<ShapeRange> ranges : all) {
      for (ShapeRange range : ranges) {
        NetworkInput input = inputs.get(range.input());
        if (input == null) {
          throw wrong(
              "expected shapes of the inputs " + inputs.keySet() + ", got '" + range.input() + "'");
        }
        if (!input.shape()) {
          checkFits(input, range);
        }
      }
      List<String> named = ranges.stream().map(ShapeRange::input).toList();
      for (NetworkInput input : inputs.values()) {
        if (input.needsRange() && !named.contains(input.name())) {
          throw wrong(
              "input '%s' has the shape %s%s: expected --shapes %s=MIN:OPT:MAX with it%s"
                  .formatted(
                      input.name(),
                      input.dims(),
                      input.shape() ? ", whose values decide on shapes" : "",
                      input.name(),
                      profiles.size() > 1 ? " in each profile" : ""));
        }
      }
    }
  }

  private static void checkFits(NetworkInput input, ShapeRange range) {
    boolean fits = input.dims().size() == range.opt().size();
    for (int i = 0; fits && i < input.dims().size(); i++) {
      long dim = input.dims().get(i);
      boolean fixed = range.min().get(i) == dim && range.max().get(i) == dim;
      fits = dim < 0 ? range.min().get(i) >= 0 : fixed;
    }
    if (!fits) {
      throw wrong(
          "expected shapes of %s for input '%s', got %s:%s:%s"
              .formatted(input.dims(), input.name(), range.min(), range.opt(), range.max()));
    }
  }

  private static Map<String, NetworkInput> inputs(INetworkDefinition network) {
    Map<String, NetworkInput> inputs = new LinkedHashMap<>();
    for (int i = 0; i < network.getNbInputs(); i++) {
      ITensor input = network.getInput(i);
      NetworkInput described =
          new NetworkInput(
              input.getName(), NativeObjects.list(input.getDimensions()), input.isShapeTensor());
      inputs.put(described.name(), described);
    }
    return inputs;
  }

  private static boolean set(IOptimizationProfile profile, ShapeRange range, boolean shape) {
    return set(profile, range.input(), OptProfileSelector.kMIN, range.min(), shape)
        && set(profile, range.input(), OptProfileSelector.kOPT, range.opt(), shape)
        && set(profile, range.input(), OptProfileSelector.kMAX, range.max(), shape);
  }

  private static boolean set(
      IOptimizationProfile profile,
      String input,
      OptProfileSelector which,
      List<Long> values,
      boolean shape) {
    if (shape) {
      long[] longs = values.stream().mapToLong(Long::longValue).toArray();
      return TensorRtMajor.setShapeValues(profile, input, which, longs);
    }
    return profile.setDimensions(input, which, NativeObjects.dims(values));
  }

  private static NereidException wrong(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }
}
