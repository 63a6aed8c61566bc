package io.nereid.tensorrt.builder;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/** The options of an engine's build; {@link Builder} describes each of them. */
public record BuildOptions(
    Set<Precision> precisions,
    boolean best,
    boolean stronglyTyped,
    boolean tf32,
    List<List<ShapeRange>> profiles,
    OptionalLong workspaceBytes,
    OptionalInt optimizationLevel,
    boolean versionCompatible,
    boolean hardwareCompatible,
    boolean weightStreaming,
    boolean sparse,
    boolean refittable,
    boolean stripped,
    Optional<Path> timingCache,
    List<Path> plugins,
    OptionalInt auxiliaryStreams,
    int device) {

  /** Copies the collections and checks for conflicts. */
  public BuildOptions {
    precisions = Set.copyOf(precisions);
    profiles = profiles.stream().map(List::copyOf).toList();
    plugins = List.copyOf(plugins);
    Objects.requireNonNull(timingCache);
    if (stronglyTyped && (best || !precisions.isEmpty())) {
      throw new IllegalArgumentException(
          "expected precisions or a strongly typed network, whose own types decide; got "
              + (best ? "the best ones" : precisions)
              + " with it");
    }
    if (weightStreaming && !stronglyTyped) {
      throw new IllegalArgumentException(
          "weight streaming needs a strongly typed network: TensorRT streams no weights whose types"
              + " it chooses itself");
    }
    if (hardwareCompatible && precisions.contains(Precision.FP8)) {
      throw new IllegalArgumentException(
          "expected FP8 or an engine for other GPUs, got both: TensorRT builds no"
              + " hardware-compatible engine with FP8");
    }
    int level = optimizationLevel.orElse(0);
    if (level < 0 || level > 5) {
      throw new IllegalArgumentException(
          "expected an optimization level from 0 to 5, got " + level);
    }
  }

  /** A builder with FP32 and TF32, and TensorRT's defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link BuildOptions}. */
  public static final class Builder {
    private final Set<Precision> precisions = EnumSet.noneOf(Precision.class);
    private boolean best;
    private boolean stronglyTyped;
    private boolean tf32 = true;
    private List<List<ShapeRange>> profiles = List.of();
    private OptionalLong workspaceBytes = OptionalLong.empty();
    private OptionalInt optimizationLevel = OptionalInt.empty();
    private boolean versionCompatible;
    private boolean hardwareCompatible;
    private boolean weightStreaming;
    private boolean sparse;
    private boolean refittable;
    private boolean stripped;
    private Optional<Path> timingCache = Optional.empty();
    private List<Path> plugins = List.of();
    private OptionalInt auxiliaryStreams = OptionalInt.empty();
    private int device;

    private Builder() {}

    /** Adds a precision that the engine may use beside FP32. */
    public Builder precision(Precision precision) {
      precisions.add(precision);
      return this;
    }

    /**
     * True if the engine may use all precisions that the GPU and the network allow; false by
     * default.
     */
    public Builder best(boolean all) {
      best = all;
      return this;
    }

    /** True if the network's own types decide instead of precisions; false by default. */
    public Builder stronglyTyped(boolean typed) {
      stronglyTyped = typed;
      return this;
    }

    /** True, the default, if products of FP32 may be rounded to TF32, which is much faster. */
    public Builder tf32(boolean allowed) {
      tf32 = allowed;
      return this;
    }

    /** The optimisation profiles, each with the shapes of all inputs that have free dimensions. */
    public Builder profiles(List<List<ShapeRange>> ranges) {
      profiles = ranges;
      return this;
    }

    /** The most device memory that a layer may use for itself; by default all. */
    public Builder workspaceBytes(long bytes) {
      workspaceBytes = OptionalLong.of(bytes);
      return this;
    }

    /** The optimization level, from 0, which builds quickly, to 5; TensorRT's own by default. */
    public Builder optimizationLevel(int level) {
      optimizationLevel = OptionalInt.of(level);
      return this;
    }

    /** True if later versions of TensorRT 10 may load the engine. */
    public Builder versionCompatible(boolean compatible) {
      versionCompatible = compatible;
      return this;
    }

    /** True if other GPUs from compute capability 8.0 on may load the engine; not with FP8. */
    public Builder hardwareCompatible(boolean compatible) {
      hardwareCompatible = compatible;
      return this;
    }

    /** True if weights may stay in host memory. */
    public Builder weightStreaming(boolean streaming) {
      weightStreaming = streaming;
      return this;
    }

    /** True if sparse weights may be treated as such. */
    public Builder sparse(boolean allowed) {
      sparse = allowed;
      return this;
    }

    /** True if weights can be replaced later. */
    public Builder refittable(boolean refit) {
      refittable = refit;
      return this;
    }

    /** True if the plan has no weights, which it gets when it is loaded. */
    public Builder stripped(boolean strip) {
      stripped = strip;
      return this;
    }

    /** A file of measurements to read, and to add to; it is made if need be. */
    public Builder timingCache(Path file) {
      timingCache = Optional.of(file);
      return this;
    }

    /** Libraries of plugins, which are in the plan only if it is version-compatible. */
    public Builder plugins(List<Path> libraries) {
      plugins = libraries;
      return this;
    }

    /** The most streams that one execution may use beside its own. */
    public Builder auxiliaryStreams(int most) {
      auxiliaryStreams = OptionalInt.of(most);
      return this;
    }

    /** The GPU to build on; 0 by default. */
    public Builder device(int number) {
      device = number;
      return this;
    }

    public BuildOptions build() {
      return new BuildOptions(
          precisions,
          best,
          stronglyTyped,
          tf32,
          profiles,
          workspaceBytes,
          optimizationLevel,
          versionCompatible,
          hardwareCompatible,
          weightStreaming,
          sparse,
          refittable,
          stripped,
          timingCache,
          plugins,
          auxiliaryStreams,
          device);
    }
  }
}
