package io.nereid.tensorrt;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Optional;
import org.bytedeco.cuda.global.cudart;

/**
 * CUDA's runtime library on this machine. The driver is checked first, because without one
 * JavaCPP's classes fail for good, and TensorRT returns objects whose use ends the process. After
 * {@link #load} has returned, JavaCPP's {@code org.bytedeco.cuda.global.cudart} can be used; before
 * that it must not be touched, because its class cannot be loaded twice.
 */
public final class CudaRuntime {

  private static final String RUNTIME = TensorRtMajor.HERE.cudaRuntime();
  private static final String RUNTIME_RESOURCE = "org/bytedeco/cuda/linux-x86_64/" + RUNTIME;

  /** The limits of JavaCPP, read when its first class is initialised; 0 means none. */
  private static final List<String> LIMITS =
      List.of("org.bytedeco.javacpp.maxBytes", "org.bytedeco.javacpp.maxPhysicalBytes");

  private static final OneAttempt<CudaRuntime> LOADED = new OneAttempt<>(CudaRuntime::open);

  private final CudaDriver driver;
  private final List<Gpu> gpus;
  private final String location;

  private CudaRuntime(CudaDriver driver, String location) {
    this.driver = driver;
    gpus = driver.devices().stream().map(Gpu::of).toList();
    this.location = location;
  }

  /**
   * Loads the library, once per process.
   *
   * @throws NereidException {@link StatusCode#UNAVAILABLE}, whose message names the missing part in
   *     one line: the driver, a device, or the runtime library
   */
  public static CudaRuntime load() {
    return LOADED.get();
  }

  /** Returns the reason why {@link #load} fails on this machine; empty: it does not fail. */
  public static Optional<String> missing() {
    return LOADED.failure();
  }

  /** The GPUs that this process may use, at least one, by number. */
  public List<Gpu> devices() {
    return gpus;
  }

  /** Returns the GPU with this number; throws if there is none. */
  public Gpu device(int number) {
    return gpus.stream()
        .filter(gpu -> gpu.number() == number)
        .findFirst()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.INVALID_ARGUMENT,
                "expected one of the GPUs %s, got %s"
                    .formatted(gpus.stream().map(Gpu::number).toList(), number)));
  }

  /** Returns the version of CUDA that the driver supports, such as {@code 13.0}. */
  public String driverVersion() {
    return driver.cudaVersion();
  }

  /** The place of the runtime library, for people. */
  public String location() {
    return location;
  }

  /**
   * Throws unless a function of the runtime library succeeded: {@link
   * StatusCode#RESOURCE_EXHAUSTED} when the device's memory is used up, else {@link
   * StatusCode#INTERNAL}.
   */
  public static void check(int result, String call) {
    if (result == cudart.cudaSuccess) {
      return;
    }
    String message =
        "%s failed: %s (%s)"
            .formatted(
                call,
                cudart.cudaGetErrorString(result).getString(),
                cudart.cudaGetErrorName(result).getString());
    // Clears an error that is not sticky, which would stay in the thread.
    cudart.cudaGetLastError();
    boolean full = result == cudart.cudaErrorMemoryAllocation;
    throw new NereidException(full ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL, message);
  }

  /**
   * Lifts JavaCPP's limit, which refuses allocations once the process is larger than four times the
   * heap: the weights of models and the pool make it so.
   */
  private static void liftLimits() {
    LIMITS.forEach(limit -> System.getProperties().putIfAbsent(limit, "0"));
  }

  private static CudaRuntime open() {
    CudaDriver driver = CudaDriver.instance();
    TensorRtMajor major = TensorRtMajor.HERE;
    if (driver.version() < major.oldestDriver()) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          ("NVIDIA's driver supports CUDA %s, expected %s or newer for TensorRT %s:"
                  + " update the driver")
              .formatted(
                  driver.cudaVersion(),
                  CudaDriver.versionName(major.oldestDriver()),
                  major.number()));
    }
    LibraryFinder finder = LibraryFinder.ofSettings();
    String location = finder.load(RUNTIME, RUNTIME_RESOURCE, major.cudaPlaces());
    // JavaCPP opens any libcudart.so of /usr/local/cuda besides. If that one is the other
    // version's, the library in the user's directory must have been opened before.
    finder.openNamed(OtherMajor.MAJOR.cudaRuntime());
    liftLimits();
    LibraryFinder.initialize(
        cudart.class.getName(),
        cudart.class.getClassLoader(),
        "CUDA's runtime library from " + location);
    int[] count = new int[1];
    int result = cudart.cudaGetDeviceCount(count);
    if (result != cudart.cudaSuccess || count[0] != driver.devices().size()) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          ("CUDA's runtime library from %s sees %s of %s GPUs (%s): expected one that"
                  + " works with a driver for CUDA %s")
              .formatted(
                  location,
                  count[0],
                  driver.devices().size(),
                  cudart.cudaGetErrorString(result).getString(),
                  driver.cudaVersion()));
    }
    return new CudaRuntime(driver, location);
  }
}
