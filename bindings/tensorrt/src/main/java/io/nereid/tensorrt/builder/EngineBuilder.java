package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.CudaRuntime;
import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.Plugins;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.NetworkDefinitionCreationFlag;
import org.bytedeco.tensorrt.global.nvinfer_plugin;
import org.bytedeco.tensorrt.nvinfer.IBuilder;
import org.bytedeco.tensorrt.nvinfer.IBuilderConfig;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;

/** Builds engines and writes them as plans. */
public final class EngineBuilder {

  private EngineBuilder() {}

  /**
   * Builds an engine, which takes from seconds to an hour.
   *
   * @param plan the file to write; an old one is replaced when the build has succeeded
   * @throws NereidException a library is missing, the network is unsuitable, or no engine can be
   *     built; the message has the reason
   */
  public static BuiltEngine build(
      NetworkSource source, BuildOptions options, Path plan, BuildProgress progress)
      throws IOException {
    TensorRtLibrary library = TensorRtLibrary.load();
    if (source instanceof OnnxFile) {
      library.loadParser();
    }
    BuilderResource.require(library, options);
    Gpu device = library.cuda().device(options.device());
    CudaRuntime.check(cudart.cudaSetDevice(device.number()), "cudaSetDevice");
    long startNs = System.nanoTime();
    BuildLog log = new BuildLog();
    try (PointerScope _ = new PointerScope();
        BuildScope scope = new BuildScope(log)) {
      MonitorObject monitor = scope.keep(new MonitorObject(progress));
      if (source instanceof OnnxFile && !nvinfer_plugin.initLibNvInferPlugins(log.logger(), "")) {
        throw log.failure("TensorRT's plugins could not be registered");
      }
      IBuilder made = nvinfer.createInferBuilder(log.logger());
      // If CUDA does not work, the returned object is not null and ends the process when it is
      // used.
      if (!log.isClean()) {
        throw log.failure("TensorRT could not make a builder");
      }
      IBuilder builder = scope.own(made, "a builder");
      // The parser looks for them, too.
      Plugins.load(options.plugins().stream().map(Path::toAbsolutePath).toList(), "--plugin");
      IHostMemory memory = serialized(builder, source, options, device, monitor, scope);
      SerializedFile.write(plan, memory);
      Duration time = Duration.ofNanos(System.nanoTime() - startNs);
      return BuiltEngine.of(memory, options, library, device, time);
    }
  }

  private static IHostMemory serialized(
      IBuilder builder,
      NetworkSource source,
      BuildOptions options,
      Gpu device,
      MonitorObject monitor,
      BuildScope scope)
      throws IOException {
    boolean typed = BuilderSettings.isStronglyTyped(options);
    int flags = typed ? 1 << NetworkDefinitionCreationFlag.kSTRONGLY_TYPED.value : 0;
    INetworkDefinition network = scope.own(builder.createNetworkV2(flags), "a network");
    define(source, network, scope);
    IBuilderConfig config = scope.own(builder.createBuilderConfig(), "a configuration");
    BuilderSettings.apply(config, options, network, device);
    Profiles.add(builder, config, network, options.profiles());
    config.setProgressMonitor(monitor.object());
    TimingCache cache = scope.keep(TimingCache.open(config, options.timingCache()));
    IHostMemory memory =
        scope.own(
            builder.buildSerializedNetwork(network, config),
            "an engine from " + source.description());
    cache.save();
    return memory;
  }

  private static void define(NetworkSource source, INetworkDefinition network, BuildScope scope)
      throws IOException {
    try {
      source.define(network, scope);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new NereidException(StatusCode.INTERNAL, "the network could not be defined", e);
    }
    if (network.getNbOutputs() == 0) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected a network with outputs, got " + source.description() + " with none");
    }
  }
}
