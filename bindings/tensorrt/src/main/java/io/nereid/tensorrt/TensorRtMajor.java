package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.tensorrt.global.nvinfer.BuilderFlag;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.nvinfer.IBuilderConfig;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IOptimizationProfile;

/**
 * The differences between TensorRT 10 and 11: names of libraries, the version of CUDA, and a few
 * functions, which are looked up by name. All other functions have the same signature in JavaCPP's
 * classes for both, so the same compiled code runs with either. A class loader has the classes of
 * one version: {@link #HERE}. Any thread may call this.
 */
public enum TensorRtMajor {
  /** TensorRT 10, with CUDA 12. */
  TEN(10, 12, new TensorRtVersion(10, 6, 0)),
  /** TensorRT 11, with CUDA 13; all its networks are strongly typed. */
  ELEVEN(11, 13, new TensorRtVersion(11, 2, 0));

  /** The version of JavaCPP's classes in this class loader. */
  public static final TensorRtMajor HERE = has("setShapeValues") ? TEN : ELEVEN;

  private static final int STRIPPED_WEIGHTS = 1;

  private final int number;
  private final int cuda;
  private final TensorRtVersion oldest;

  TensorRtMajor(int number, int cuda, TensorRtVersion oldest) {
    this.number = number;
    this.cuda = cuda;
    this.oldest = oldest;
  }

  /** The major version of a version; empty: not supported. */
  static Optional<TensorRtMajor> of(TensorRtVersion version) {
    return Arrays.stream(values()).filter(one -> one.number == version.major()).findFirst();
  }

  int cuda() {
    return cuda;
  }

  /** The major version of plans and libraries. */
  public int number() {
    return number;
  }

  /** The setting in front of a command that makes it use this version. */
  String setting() {
    return this == TEN ? "" : "NEREID_TENSORRT=" + number + " ";
  }

  /** The file name of one of TensorRT's libraries, such as {@code nvinfer}. */
  public String library(String name) {
    return "lib" + name + ".so." + number;
  }

  String cudaRuntime() {
    return "libcudart.so." + cuda;
  }

  /** The directories of CUDA's installers, the newest first. */
  List<String> cudaPlaces() {
    List<String> places = new ArrayList<>(List.of("/usr/local/cuda-" + cuda + "/lib64"));
    for (int minor = 9; minor >= 0; minor--) {
      places.add("/usr/local/cuda-" + cuda + "." + minor + "/lib64");
    }
    places.add("/usr/local/cuda/lib64");
    return places;
  }

  /**
   * The oldest driver that runs libraries of this CUDA, in CUDA's numbering (minor compatibility).
   */
  int oldestDriver() {
    return cuda * 1000;
  }

  /** The version that JavaCPP's library was compiled with; older ones may lack functions. */
  TensorRtVersion oldest() {
    return oldest;
  }

  /** The interface of loggers, which has a version since 11. */
  NativeInterface.Type loggerType() {
    return this == TEN
        ? new NativeInterface.Type("ILogger", "_ZTIN8nvinfer17ILoggerE", 0, 0)
        : new NativeInterface.Type("ILogger", "_ZTIN8nvinfer15v_1_07ILoggerE", 1, 0);
  }

  /**
   * The place in the virtual table of ONNX parsers of the destructor that frees the object, too. It
   * follows the plain destructor, before which there are eight functions in 10 and six in 11.
   */
  public int parserDestructor() {
    return this == TEN ? 9 : 7;
  }

  /** True if every network is strongly typed, so that no precision is chosen. */
  public boolean isAlwaysStronglyTyped() {
    return this == ELEVEN;
  }

  /** The builder's flag that allows a precision, such as {@code kFP16}; empty: there is none. */
  public static Optional<BuilderFlag> precisionFlag(String name) {
    return Arrays.stream(BuilderFlag.values()).filter(flag -> flag.name().equals(name)).findFirst();
  }

  /** Sets the values of an input from which shapes are computed. */
  public static boolean setShapeValues(
      IOptimizationProfile profile, String input, OptProfileSelector which, long[] values) {
    Object typed =
        HERE == TEN ? Arrays.stream(values).mapToInt(Math::toIntExact).toArray() : values;
    MethodType type =
        MethodType.methodType(
            boolean.class, String.class, OptProfileSelector.class, typed.getClass(), int.class);
    String name = HERE == TEN ? "setShapeValues" : "setShapeValuesV2";
    return (boolean) call(name, type, profile, input, which, typed, values.length);
  }

  /**
   * A profile's values for an input from which shapes are computed; empty: none. Version 10 returns
   * 32-bit numbers, even if the tensor is of INT64.
   */
  public static long[] shapeValues(
      ICudaEngine engine, String input, int profile, OptProfileSelector which, int count) {
    Class<?> told = HERE == TEN ? IntPointer.class : LongPointer.class;
    MethodType type =
        MethodType.methodType(told, String.class, int.class, OptProfileSelector.class);
    String name = HERE == TEN ? "getProfileTensorValues" : "getProfileTensorValuesV2";
    Object values = call(name, type, engine, input, profile, which);
    long[] copy = new long[count];
    if (values instanceof IntPointer ints && !ints.isNull()) {
      Arrays.setAll(copy, ints::get);
    } else if (values instanceof LongPointer longs && !longs.isNull()) {
      Arrays.setAll(copy, longs::get);
    } else {
      return new long[0];
    }
    return copy;
  }

  /** The bytes of weights that were stripped from a plan; -1: none, or unknown in this version. */
  static long strippedBytes(ICudaEngine engine) {
    MethodType type = MethodType.methodType(long.class, int.class);
    return HERE == TEN ? -1 : (long) call("getEngineStat", type, engine, STRIPPED_WEIGHTS);
  }

  /** Limits the streams that an engine uses beside the caller's. */
  public static void setAuxiliaryStreams(IBuilderConfig config, int count) {
    Class<?> result = HERE == TEN ? void.class : boolean.class;
    call("setMaxAuxStreams", MethodType.methodType(result, int.class), config, count);
  }

  private static boolean has(String method) {
    return Arrays.stream(IOptimizationProfile.class.getMethods())
        .anyMatch(one -> one.getName().equals(method));
  }

  /** Calls a method whose type or name differs between JavaCPP's classes for the two versions. */
  private static Object call(String name, MethodType type, Object object, Object... arguments) {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(object.getClass(), name, type)
          .bindTo(object)
          .invokeWithArguments(arguments);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new NereidException(StatusCode.INTERNAL, "a call of TensorRT failed", t);
    }
  }
}
