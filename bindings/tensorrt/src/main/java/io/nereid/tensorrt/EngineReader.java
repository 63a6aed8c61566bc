package io.nereid.tensorrt;

import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.tensorrt.EngineDescription.ProfileRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.global.nvinfer.TensorFormat;
import org.bytedeco.tensorrt.global.nvinfer.TensorIOMode;
import org.bytedeco.tensorrt.global.nvinfer.TensorLocation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;

/** Asks an engine what it says of itself. */
final class EngineReader {

  private final ICudaEngine engine;
  private final int profileCount;

  private EngineReader(ICudaEngine engine) {
    this.engine = engine;
    profileCount = engine.getNbOptimizationProfiles();
  }

  /**
   * All that it says.
   *
   * @param contexts makes a context for the engine, which needs no memory for activations
   */
  static EngineDescription read(ICudaEngine engine, Supplier<IExecutionContext> contexts) {
    EngineDescription description = new EngineReader(engine).description();
    if (!description.hasBatchDimension()) {
      return description;
    }
    IExecutionContext context = contexts.get();
    try {
      return description.withOwnRows(RowProbe.ownRows(context, description));
    } finally {
      NativeObjects.delete(context);
    }
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
                list(dims),
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
      Map<String, ProfileRange> shapes = new HashMap<>();
      Map<String, ProfileRange> values = new HashMap<>();
      for (EngineTensor tensor : tensors) {
        if (!tensor.input()) {
          continue;
        }
        shapes.put(
            tensor.name(),
            new ProfileRange(
                shape(tensor, i, OptProfileSelector.kMIN),
                shape(tensor, i, OptProfileSelector.kOPT),
                shape(tensor, i, OptProfileSelector.kMAX)));
        if (tensor.onHost() && tensor.ofShapes()) {
          List<Long> most = values(tensor, i, OptProfileSelector.kMAX);
          if (!most.isEmpty()) {
            values.put(
                tensor.name(),
                new ProfileRange(
                    values(tensor, i, OptProfileSelector.kMIN),
                    values(tensor, i, OptProfileSelector.kOPT),
                    most));
          }
        }
      }
      profiles.add(new EngineProfile(i, shapes, values));
    }
    return profiles;
  }

  /** Dimensions that a profile has for an input; those of the engine where it has none for it. */
  private List<Long> shape(EngineTensor tensor, int profile, OptProfileSelector which) {
    try (Dims64 dims = engine.getProfileShape(tensor.name(), profile, which)) {
      return dims.nbDims() == tensor.dims().size() ? list(dims) : tensor.dims();
    }
  }

  private List<Long> values(EngineTensor tensor, int profile, OptProfileSelector which) {
    long count = 1;
    for (long size : tensor.dims()) {
      count *= size;
    }
    List<Long> list = new ArrayList<>();
    for (long value :
        TensorRtMajor.shapeValues(engine, tensor.name(), profile, which, Math.toIntExact(count))) {
      list.add(value);
    }
    return list;
  }

  /** The sizes; none for a scalar, and for what TensorRT does not know. */
  static List<Long> list(Dims64 dims) {
    List<Long> list = new ArrayList<>();
    for (int i = 0; i < dims.nbDims(); i++) {
      list.add(dims.d(i));
    }
    return list;
  }
}
