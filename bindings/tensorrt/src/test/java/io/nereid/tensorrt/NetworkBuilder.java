package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.IBuilder;
import org.bytedeco.tensorrt.nvinfer.IBuilderConfig;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;
import org.bytedeco.tensorrt.nvinfer.ILayer;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvinfer.IOptimizationProfile;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.bytedeco.tensorrt.nvinfer.Weights;

/**
 * Defines a network in Java and builds a plan of it, for the calling thread's device. The network
 * is strongly typed: every tensor has the type that it was given. What is not offered here is done
 * with {@link #network()} and {@link #config()}.
 *
 * <pre>{@code
 * try (NetworkBuilder builder = NetworkBuilder.create()) {
 *   ITensor x = builder.input("x", DataType.kFLOAT, -1, 4);
 *   builder.output("y", builder.network().addElementWise(x, x, ElementWiseOperation.kSUM));
 *   builder.profile(profile -> profile.shapes("x", dims(1, 4), dims(8, 4), dims(32, 4)));
 *   builder.write(path);
 * }
 * }</pre>
 */
public final class NetworkBuilder implements AutoCloseable {

  private static final int STRONGLY_TYPED =
      1 << nvinfer.NetworkDefinitionCreationFlag.kSTRONGLY_TYPED.value;

  /** What one write to a file takes at most. */
  private static final long CHUNK_BYTES = 1 << 30;

  private final List<String> log = new ArrayList<>();
  private final Arena weights = Arena.ofShared();
  private MemorySegment last; // the constant that was added last
  private final IBuilder builder;
  private final INetworkDefinition network;
  private final IBuilderConfig config;

  private NetworkBuilder() {
    TensorRtLibrary.load();
    try (Undo undo = new Undo()) {
      undo.add(weights);
      IBuilder made = call(() -> nvinfer.createInferBuilder(TensorRtLog.instance()));
      // As of the runtime: where CUDA does not work, what is returned is not null.
      if (made == null || made.isNull() || !log.isEmpty()) {
        throw failure("make a builder");
      }
      builder = made;
      undo.add(() -> NativeObjects.delete(made));
      INetworkDefinition empty =
          checked(call(() -> made.createNetworkV2(STRONGLY_TYPED)), "make a network");
      network = empty;
      undo.add(() -> NativeObjects.delete(empty));
      config = checked(call(made::createBuilderConfig), "make a configuration");
      undo.forget();
    }
  }

  /** A builder with an empty network. */
  public static NetworkBuilder create() {
    return new NetworkBuilder();
  }

  /** Dimensions, for where arrays are wanted. */
  public static long[] dims(long... sizes) {
    return sizes;
  }

  /** The network itself; it lives as long as this. */
  public INetworkDefinition network() {
    return network;
  }

  /** How it is built; it lives as long as this. */
  public IBuilderConfig config() {
    return config;
  }

  /** Adds an input; -1 in {@code sizes} for what is decided later. */
  public ITensor input(String name, DataType type, long... sizes) {
    try (Dims64 dims = dims64(sizes)) {
      return checked(call(() -> network.addInput(name, type, dims)), "add input '" + name + "'");
    }
  }

  /** Adds a constant of FP32 with a name, by which it can be refitted. */
  public ITensor weights(String name, float[] values, long... sizes) {
    ITensor constant = constant(values, sizes);
    try (Weights all = new Weights()) {
      all.type(DataType.kFLOAT).values(NativePointer.of(last)).count(values.length);
      if (!network.setWeightsName(all, name)) {
        throw failure("name weights");
      }
    }
    return constant;
  }

  /** Adds a constant of FP32. */
  public ITensor constant(float[] values, long... sizes) {
    MemorySegment kept = weights.allocateFrom(ValueLayout.JAVA_FLOAT, values);
    last = kept;
    try (Dims64 dims = dims64(sizes);
        Weights all = new Weights()) {
      all.type(DataType.kFLOAT).values(NativePointer.of(kept)).count(values.length);
      return output(call(() -> network.addConstant(dims, all)), "add a constant");
    }
  }

  /** The first output of a layer that was just added. */
  public ITensor output(ILayer layer) {
    return output(layer, "add a layer");
  }

  /** Makes a tensor an output of the network. */
  public NetworkBuilder output(String name, ITensor tensor) {
    tensor.setName(name);
    network.markOutput(tensor);
    return this;
  }

  /** Makes the first output of a layer one of the network. */
  public NetworkBuilder output(String name, ILayer layer) {
    return output(name, output(layer));
  }

  private ITensor output(ILayer layer, String what) {
    if (layer == null || layer.isNull()) {
      throw failure(what);
    }
    return layer.getOutput(0);
  }

  /** Adds an optimization profile. */
  public NetworkBuilder profile(Consumer<Profile> definition) {
    IOptimizationProfile profile =
        checked(call(builder::createOptimizationProfile), "make an optimization profile");
    definition.accept(new Profile(profile));
    int index = call(() -> config.addOptimizationProfile(profile));
    if (index < 0) {
      throw failure("add an optimization profile");
    }
    return this;
  }

  /** What inputs may be. */
  public final class Profile {

    private final IOptimizationProfile profile;

    private Profile(IOptimizationProfile profile) {
      this.profile = profile;
    }

    /** The shapes that an input may have. */
    public Profile shapes(String input, long[] min, long[] opt, long[] max) {
      shape(input, OptProfileSelector.kMIN, min);
      shape(input, OptProfileSelector.kOPT, opt);
      shape(input, OptProfileSelector.kMAX, max);
      return this;
    }

    private void shape(String input, OptProfileSelector which, long[] sizes) {
      try (Dims64 dims = dims64(sizes)) {
        if (!call(() -> profile.setDimensions(input, which, dims))) {
          throw failure("set the shapes of '" + input + "'");
        }
      }
    }

    /** The values that an input may hold from which shapes are computed. */
    public Profile values(String input, int[] min, int[] opt, int[] max) {
      value(input, OptProfileSelector.kMIN, min);
      value(input, OptProfileSelector.kOPT, opt);
      value(input, OptProfileSelector.kMAX, max);
      return this;
    }

    private void value(String input, OptProfileSelector which, int[] values) {
      long[] longs = IntStream.of(values).asLongStream().toArray();
      if (!call(() -> TensorRtMajor.setShapeValues(profile, input, which, longs))) {
        throw failure("set the values of '" + input + "'");
      }
    }
  }

  /** Builds the plan and writes it. */
  public void write(Path plan) throws IOException {
    IHostMemory built =
        checked(call(() -> builder.buildSerializedNetwork(network, config)), "build the network");
    try (FileChannel channel =
        FileChannel.open(
            plan,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      MemorySegment bytes = bytes(built);
      for (long at = 0; at < bytes.byteSize(); at += CHUNK_BYTES) {
        ByteBuffer chunk =
            bytes.asSlice(at, Math.min(CHUNK_BYTES, bytes.byteSize() - at)).asByteBuffer();
        while (chunk.hasRemaining()) {
          channel.write(chunk);
        }
      }
    } finally {
      NativeObjects.delete(built);
    }
  }

  @SuppressWarnings("restricted")
  private static MemorySegment bytes(IHostMemory memory) {
    return MemorySegment.ofAddress(memory.data().address()).reinterpret(memory.size());
  }

  private static Dims64 dims64(long[] sizes) {
    Dims64 dims = new Dims64();
    dims.nbDims(sizes.length);
    for (int i = 0; i < sizes.length; i++) {
      dims.d(i, sizes[i]);
    }
    return dims;
  }

  private <T> T call(Supplier<T> call) {
    return TensorRtLog.errorsOf(log, call);
  }

  private <T extends Pointer> T checked(T made, String what) {
    if (made == null || made.isNull()) {
      throw failure(what);
    }
    return made;
  }

  private NereidException failure(String what) {
    boolean full = TensorRtLog.isOutOfMemory(String.join("; ", log));
    return new NereidException(
        full ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INVALID_ARGUMENT,
        "TensorRT cannot " + what + ": " + (log.isEmpty() ? "it did not say why" : log));
  }

  @Override
  public void close() {
    NativeObjects.delete(config);
    NativeObjects.delete(network);
    NativeObjects.delete(builder);
    weights.close();
  }
}
