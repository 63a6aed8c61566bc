package io.nereid.tensorrt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Optional;
import org.bytedeco.cuda.global.cublas;
import org.bytedeco.cuda.global.cudnn;
import org.bytedeco.cuda.global.nvrtc;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer_plugin;
import org.bytedeco.tensorrt.global.nvonnxparser;

/**
 * TensorRT on this machine, with CUDA under it. After {@link #load} has returned, JavaCPP's {@code
 * org.bytedeco.tensorrt.global.nvinfer} and its classes can be used; before that they must not be
 * touched.
 */
public final class TensorRtLibrary {

  private static final String LIBRARY = TensorRtMajor.HERE.library("nvinfer");
  private static final String PLUGINS = TensorRtMajor.HERE.library("nvinfer_plugin");
  private static final String PARSER = TensorRtMajor.HERE.library("nvonnxparser");
  private static final String RESOURCES = "org/bytedeco/tensorrt/linux-x86_64/";
  private static final List<String> PLACES =
      List.of("/usr/local/tensorrt/lib", "/opt/tensorrt/lib", "/usr/lib/x86_64-linux-gnu");

  private static final String SWITCH = "org.bytedeco.javacpp.loadlibraries";

  private static final OneAttempt<TensorRtLibrary> LOADED =
      new OneAttempt<>(() -> open(CudaRuntime.load()));

  private final CudaRuntime cuda;
  private final LibraryFinder finder;
  private final String location;
  private final TensorRtVersion version;

  @GuardedBy("this")
  private boolean pluginsRegistered;

  private TensorRtLibrary(
      CudaRuntime cuda, LibraryFinder finder, String location, TensorRtVersion version) {
    this.cuda = cuda;
    this.finder = finder;
    this.location = location;
    this.version = version;
  }

  /**
   * Loads TensorRT, once per process.
   *
   * @throws NereidException {@link StatusCode#UNAVAILABLE}, whose message names the missing part in
   *     one line: a need of {@link CudaRuntime#load}, or TensorRT itself
   */
  public static TensorRtLibrary load() {
    return LOADED.get();
  }

  /** Returns the reason why {@link #load} fails on this machine; empty: it does not fail. */
  public static Optional<String> missing() {
    return LOADED.failure();
  }

  /** The CUDA that TensorRT runs on. */
  public CudaRuntime cuda() {
    return cuda;
  }

  /** Returns the version of TensorRT's library. */
  public TensorRtVersion version() {
    return version;
  }

  /** The place of the library, for people. */
  public String location() {
    return location;
  }

  /** Loads TensorRT's own plugins, once; JavaCPP's {@code nvinfer_plugin} is usable then. */
  public synchronized void loadPlugins() {
    finder.load(PLUGINS, RESOURCES + PLUGINS, PLACES);
    initialize(nvinfer_plugin.class, PLUGINS);
  }

  /** Registers TensorRT's own plugins for all engines, once. */
  synchronized void registerPlugins() {
    if (pluginsRegistered) {
      return;
    }
    loadPlugins();
    if (!nvinfer_plugin.initLibNvInferPlugins(TensorRtLog.instance(), "")) {
      throw new NereidException(
          StatusCode.UNAVAILABLE, "TensorRT's own plugins cannot be registered");
    }
    pluginsRegistered = true;
  }

  /** Loads the parser of ONNX files, once; JavaCPP's {@code nvonnxparser} is usable then. */
  public synchronized void loadParser() {
    loadPlugins();
    finder.load(PARSER, RESOURCES + PARSER, PLACES);
    initialize(nvonnxparser.class, PARSER);
  }

  private static TensorRtLibrary open(CudaRuntime cuda) {
    LibraryFinder finder = LibraryFinder.ofSettings();
    String location = finder.load(LIBRARY, RESOURCES + LIBRARY, PLACES);
    skipUnneeded();
    initialize(nvinfer.class, LIBRARY);
    TensorRtVersion version = TensorRtVersion.ofNumber(nvinfer.getInferLibVersion());
    TensorRtVersion oldest = TensorRtMajor.HERE.oldest();
    if (version.major() != oldest.major() || version.compareTo(oldest) < 0) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "TensorRT from %s is %s, expected %s or a newer one of TensorRT %s"
              .formatted(location, version, oldest, oldest.major()));
    }
    return new TensorRtLibrary(cuda, finder, location, version);
  }

  /**
   * JavaCPP's class for TensorRT initialises those for cuBLAS, cuDNN and NVRTC, each of which loads
   * its library and fails where there is none. TensorRT needs none of them, and neither does the
   * JNI library. So this initialises them while JavaCPP's loading is turned off. If an application
   * uses one of them, it has initialised that before, which is not changed.
   */
  private static void skipUnneeded() {
    for (Class<?> unneeded : List.of(cublas.class, cudnn.class, nvrtc.class)) {
      LibraryFinder.withProperty(SWITCH, "false", unneeded.getName(), unneeded.getClassLoader());
    }
  }

  private static void initialize(Class<?> type, String what) {
    LibraryFinder.initialize(type.getName(), type.getClassLoader(), what);
  }
}
