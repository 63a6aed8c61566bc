package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.EnumSet;
import java.util.Set;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.tensorrt.global.nvinfer.BuilderFlag;
import org.bytedeco.tensorrt.global.nvinfer.HardwareCompatibilityLevel;
import org.bytedeco.tensorrt.global.nvinfer.LayerType;
import org.bytedeco.tensorrt.global.nvinfer.MemoryPoolType;
import org.bytedeco.tensorrt.nvinfer.IBuilderConfig;
import org.bytedeco.tensorrt.nvinfer.ILayer;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvinfer.ITensor;

/** Hands {@link BuildOptions} to TensorRT. */
final class BuilderSettings {

  private BuilderSettings() {}

  static void apply(
      IBuilderConfig config, BuildOptions options, INetworkDefinition network, Gpu device) {
    if (!isStronglyTyped(options)) {
      for (Precision precision : precisions(options, quantized(network), device)) {
        TensorRtMajor.precisionFlag("k" + precision).ifPresent(config::setFlag);
      }
    }
    if (!options.tf32()) {
      config.clearFlag(BuilderFlag.kTF32);
    }
    set(config, BuilderFlag.kVERSION_COMPATIBLE, options.versionCompatible());
    set(config, BuilderFlag.kWEIGHT_STREAMING, options.weightStreaming());
    set(config, BuilderFlag.kSPARSE_WEIGHTS, options.sparse());
    set(config, BuilderFlag.kREFIT, options.refittable() || options.stripped());
    set(config, BuilderFlag.kSTRIP_PLAN, options.stripped());
    if (options.hardwareCompatible()) {
      config.setHardwareCompatibilityLevel(HardwareCompatibilityLevel.kAMPERE_PLUS);
    }
    options
        .workspaceBytes()
        .ifPresent(bytes -> config.setMemoryPoolLimit(MemoryPoolType.kWORKSPACE, bytes));
    options.optimizationLevel().ifPresent(config::setBuilderOptimizationLevel);
    options.auxiliaryStreams().ifPresent(count -> TensorRtMajor.setAuxiliaryStreams(config, count));
    if (options.versionCompatible() && !options.plugins().isEmpty()) {
      // A plan for other versions contains the plugins, as it contains its own runtime.
      BytePointer[] paths =
          options.plugins().stream()
              .map(path -> new BytePointer(path.toAbsolutePath().toString()))
              .toArray(BytePointer[]::new);
      config.setPluginsToSerialize(new PointerPointer<>(paths), paths.length);
    }
  }

  /**
   * True if the network's types decide the precision. Throws if precisions are asked for although
   * TensorRT cannot choose.
   */
  static boolean isStronglyTyped(BuildOptions options) {
    TensorRtMajor major = TensorRtMajor.HERE;
    if (!major.isAlwaysStronglyTyped()) {
      return options.stronglyTyped();
    }
    if (options.best() || !options.precisions().isEmpty()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          ("TensorRT %s computes in the types that the ONNX file has, got %s: build"
                  + " without it, and convert the file before (NVIDIA's TensorRT Model"
                  + " Optimizer, or onnxconverter-common's float16.convert_float_to_float16)")
              .formatted(major.number(), options.best() ? "--best" : options.precisions()));
    }
    return true;
  }

  private static void set(IBuilderConfig config, BuilderFlag flag, boolean wanted) {
    if (wanted) {
      config.setFlag(flag);
    }
  }

  /**
   * The precisions that the engine may use; {@code quantized}: those for which the network has
   * nodes.
   */
  static Set<Precision> precisions(BuildOptions options, Set<Precision> quantized, Gpu device) {
    Set<Precision> wanted = EnumSet.noneOf(Precision.class);
    wanted.addAll(options.precisions());
    for (Precision precision : wanted) {
      boolean needsNodes = precision == Precision.INT8 || precision == Precision.FP8;
      if (needsNodes && !quantized.contains(precision)) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            ("%s needs a network that says where and by how much to quantize: nodes QuantizeLinear"
                    + " and DequantizeLinear of %s (NVIDIA's TensorRT Model Optimizer or ONNX"
                    + " Runtime's quantize_static adds them), and this one has none; --best or"
                    + " --fp16 needs none")
                .formatted(precision, precision));
      }
    }
    if (options.best()) {
      wanted.add(Precision.FP16);
      wanted.addAll(quantized);
      if (device.major() >= 8) {
        wanted.add(Precision.BF16);
      }
      if (options.hardwareCompatible()) {
        wanted.remove(Precision.FP8);
      }
    }
    return wanted;
  }

  /** The precisions for which the network has quantizing nodes. */
  private static Set<Precision> quantized(INetworkDefinition network) {
    Set<Precision> found = EnumSet.noneOf(Precision.class);
    for (int i = 0; i < network.getNbLayers(); i++) {
      ILayer layer = network.getLayer(i);
      LayerType type = layer.getType().intern();
      // Weights that were quantized before have only a dequantizing node.
      boolean quantizes = type == LayerType.kQUANTIZE;
      if (quantizes || type == LayerType.kDEQUANTIZE) {
        ITensor tensor = quantizes ? layer.getOutput(0) : layer.getInput(0);
        switch (tensor.getType().intern()) {
          case kINT8 -> found.add(Precision.INT8);
          case kFP8 -> found.add(Precision.FP8);
          default -> {} // no precision that can be asked for
        }
      }
    }
    return found;
  }
}
