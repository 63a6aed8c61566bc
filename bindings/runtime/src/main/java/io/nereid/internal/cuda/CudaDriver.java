package io.nereid.internal.cuda;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The CUDA driver of this machine and the GPUs that it shows to this process. Everything that needs
 * a GPU asks here first: page-locking, regions in clients' memory, and TensorRT.
 */
public final class CudaDriver {

  private static final String LIBRARY = "libcuda.so.1";

  private final CudaLibrary library;
  private final List<CudaDevice> devices;

  private CudaDriver(CudaLibrary library, List<CudaDevice> devices) {
    this.library = library;
    this.devices = List.copyOf(devices);
  }

  /**
   * The driver, or the reason why there is none, found by the first caller and kept: no driver
   * appears while a process runs.
   */
  private static final class Found {
    static final CudaDriver DRIVER;
    static final String ABSENCE;

    static {
      CudaDriver driver = null;
      String absence = "";
      try {
        driver = open(LIBRARY);
      } catch (NereidException e) {
        absence = e.getMessage();
      }
      DRIVER = driver;
      ABSENCE = absence;
    }
  }

  /**
   * True if there is a GPU. The first call looks for the driver, which costs a search for a file if
   * there is none.
   */
  public static boolean isPresent() {
    return Found.DRIVER != null;
  }

  /** The reason why there is no GPU, in words; empty: there is one. */
  public static String absence() {
    return Found.ABSENCE;
  }

  /** The driver, with a GPU at least; {@link StatusCode#UNAVAILABLE}: there is none. */
  public static CudaDriver instance() {
    if (Found.DRIVER == null) {
      throw new NereidException(StatusCode.UNAVAILABLE, Found.ABSENCE);
    }
    return Found.DRIVER;
  }

  /** Opens a library that has the driver's functions. */
  static CudaDriver open(String name) {
    CudaLibrary library = new CudaLibrary(name);
    List<CudaDevice> devices = new ArrayList<>();
    try {
      int count = library.init() ? library.deviceCount() : 0;
      for (int number = 0; number < count; number++) {
        devices.add(new CudaDevice(library, number));
      }
    } catch (NereidException e) {
      throw new NereidException(StatusCode.UNAVAILABLE, "the CUDA driver cannot be used", e);
    }
    if (devices.isEmpty()) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "NVIDIA's driver is there but no GPU that this process may use"
              + Optional.ofNullable(System.getenv("CUDA_VISIBLE_DEVICES"))
                  .map(visible -> " (CUDA_VISIBLE_DEVICES=" + visible + ")")
                  .orElse(""));
    }
    return new CudaDriver(library, devices);
  }

  /** The newest version of CUDA that the driver serves, such as 13.0. */
  public String cudaVersion() {
    return versionName(version());
  }

  /** {@link #cudaVersion} as CUDA counts: 1000 times the major and 10 times the minor version. */
  public int version() {
    return library.version();
  }

  /** A version as people write it. */
  public static String versionName(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }

  /** The GPUs, by number from 0; CUDA's environment variables can hide some. */
  public List<CudaDevice> devices() {
    return devices;
  }

  /** The GPU with the number that a client gave. */
  public CudaDevice device(long number) {
    if (number < 0 || number >= devices.size()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected the number of a GPU from 0 to " + (devices.size() - 1) + ", got " + number);
    }
    return devices.get((int) number);
  }
}
