package io.nereid.tensorrt;

import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.tensorrt.EngineDescription.ProfileRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.global.nvinfer.TensorFormat;
import org.bytedeco.tensorrt.global.nvinfer.TensorIOMode;
import org.bytedeco.tensorrt.global.nvinfer.TensorLocation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;

/** Reads the description of an engine. */
final class EngineReader {

  private final ICudaEngine engine;
  private final int profileCount;

  private EngineReader(ICudaEngine engine) {
    this.engine = engine;
    profileCount = engine.getNbOptimizationProfiles();
  }

  /**
   * Reads the whole description; {@code contexts} makes a context, which needs no memory for
   * activations.
   */
  static EngineDescription read(ICudaEngine engine, Supplier<IExecutionContext> contexts) {
    EngineDescription description = new EngineReader(engine).description();
    if (!description.hasBatchDimension()) {
      return description;
    }
    IExecutionContext context = contexts.get();
    try {
      return description.withOwnRows(ownRows(context, description));
    } finally {
      NativeObjects.delete(context);
    }
  }

  /**
   * Finds the outputs whose first dimension is free without being the batch's. The engine itself
   * reports -1 for both; a new context, with the largest shapes of the first profile, reports the
   * numbers of rows. If that profile allows no shapes with equal first dimensions, as for ragged
   * inputs, all outputs are returned.
   */
  private static Set<String> ownRows(IExecutionContext context, EngineDescription engine) {
    EngineProfile profile = engine.profiles().getFirst();
    long rows = engine.maxBatchSize(profile);
    for (EngineTensor input : engine.inputs()) {
      ProfileRange range = profile.shapes().get(input.name());
      if (range.min().getFirst() > rows) {
        return engine.outputs().stream().map(EngineTensor::name).collect(Collectors.toSet());
      }
      List<Long> shape = new ArrayList<>(range.max());
      shape.set(0, rows);
      try (Dims64 dims = NativeObjects.dims(shape)) {
        TensorRtLog.require(
            () -> context.setInputShape(input.name(), dims),
            "take " + input.title() + " with the largest shape of profile 0");
      }
    }
    Set<String> own = new HashSet<>();
    for (EngineTensor output : engine.outputs()) {
      try (Dims64 dims = context.getTensorShape(output.name())) {
        if (dims.nbDims() <= 0 || dims.d(0) != rows) {
          own.add(output.name());
        }
      }
    }
    return own;
  }

  private EngineDescription description() {
    List<EngineTensor> tensors = tensors();
    return new EngineDescription(
        engine.getName() == null ? "" : engine.getName(),
        tensors,
        profiles(tensors),
        engine.getStreamableWeightsSize(),
        Set.of());
  }

  private List<EngineTensor> tensors() {
    List<EngineTensor> tensors = new ArrayList<>();
    int count = engine.getNbIOTensors();
    for (int i = 0; i < count; i++) {
      String name = engine.getIOTensorName(i);
      try (BytePointer text = new BytePointer(name);
          Dims64 dims = engine.getTensorShape(name)) {
        tensors.add(
            new EngineTensor(
                name,
                engine.getTensorIOMode(name).intern() == TensorIOMode.kINPUT,
                EngineType.ofNumber(engine.getTensorDataType(text)),
                NativeObjects.list(dims),
                engine.getTensorLocation(name).intern() == TensorLocation.kHOST,
                engine.isShapeInferenceIO(name),
                isLinear(name)));
      }
    }
    return tensors;
  }

  private boolean isLinear(String name) {
    for (int profile = 0; profile < profileCount; profile++) {
      if (engine.getTensorFormat(name, profile).intern() != TensorFormat.kLINEAR) {
        return false;
      }
    }
    return true;
  }

  private List<EngineProfile> profiles(List<EngineTensor> tensors) {
    List<EngineProfile> profiles = new ArrayList<>();
    for (int i = 0; i < profileCount; i++) {
      int profile = i;
      Map<String, ProfileRange> shapes = new HashMap<>();
      Map<String, ProfileRange> values = new HashMap<>();
      for (EngineTensor tensor : tensors) {
        if (!tensor.input()) {
          continue;
        }
        shapes.put(tensor.name(), range(which -> shape(tensor, profile, which)));
        if (tensor.onHost() && tensor.ofShapes()) {
          ProfileRange range = range(which -> values(tensor, profile, which));
          if (!range.max().isEmpty()) {
            values.put(tensor.name(), range);
          }
        }
      }
      profiles.add(new EngineProfile(profile, shapes, values));
    }
    return profiles;
  }

  private static ProfileRange range(Function<OptProfileSelector, List<Long>> of) {
    return new ProfileRange(
        of.apply(OptProfileSelector.kMIN),
        of.apply(OptProfileSelector.kOPT),
        of.apply(OptProfileSelector.kMAX));
  }

  /** The dimensions of an input in a profile; the engine's if the profile has none. */
  private List<Long> shape(EngineTensor tensor, int profile, OptProfileSelector which) {
    try (Dims64 dims = engine.getProfileShape(tensor.name(), profile, which)) {
      return dims.nbDims() == tensor.dims().size() ? NativeObjects.list(dims) : tensor.dims();
    }
  }

  private List<Long> values(EngineTensor tensor, int profile, OptProfileSelector which) {
    long count = tensor.dims().stream().reduce(1L, (some, size) -> some * size);
    return LongStream.of(
            TensorRtMajor.shapeValues(
                engine, tensor.name(), profile, which, Math.toIntExact(count)))
        .boxed()
        .toList();
  }
}
