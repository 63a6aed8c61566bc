package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the driver says of itself and its devices. It is asked before any library of CUDA or
 * TensorRT is loaded: their classes fail in ways that cannot be mended once there is no driver, and
 * TensorRT without a device hands out objects that end the process when they are used.
 *
 * @param version what the driver supports, 1000 times CUDA's major and 10 times its minor version
 * @param devices the GPUs that this process may use, at least one
 */
record CudaDriver(int version, List<CudaDevice> devices) {

  private static final String LIBRARY = "libcuda.so.1";

  /** The oldest that runs libraries of CUDA 12 (minor version compatibility). */
  private static final int OLDEST_VERSION = 12_000;

  private static final int NAME_BYTES = 256;

  // Numbers of CUdevice_attribute and CUresult in cuda.h.
  private static final int COMPUTE_CAPABILITY_MAJOR = 75;
  private static final int COMPUTE_CAPABILITY_MINOR = 76;
  private static final int NO_DEVICE = 100;

  /** Longer than any of the texts. */
  @SuppressWarnings("restricted")
  private static final AddressLayout C_STRING =
      ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(1024, JAVA_BYTE));

  CudaDriver {
    devices = List.copyOf(devices);
  }

  /** {@link #version} as people write it, such as {@code 13.0}. */
  String versionName() {
    return versionName(version);
  }

  static String versionName(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }

  /** Asks the driver; the message of what is thrown says in one line what is missing. */
  static CudaDriver ask() {
    Calls calls = new Calls(lookup());
    try (Arena arena = Arena.ofConfined()) {
      calls.check(calls.call("cuInit", 0), "cuInit");
      MemorySegment number = arena.allocate(JAVA_INT);
      calls.check(calls.call("cuDriverGetVersion", number), "cuDriverGetVersion");
      int version = number.get(JAVA_INT, 0);
      if (version < OLDEST_VERSION) {
        throw unavailable(
            "NVIDIA's driver supports CUDA "
                + versionName(version)
                + ", expected "
                + versionName(OLDEST_VERSION)
                + " or newer: update the driver");
      }
      calls.check(calls.call("cuDeviceGetCount", number), "cuDeviceGetCount");
      int count = number.get(JAVA_INT, 0);
      if (count == 0) {
        throw noDevice();
      }
      List<CudaDevice> devices = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        devices.add(calls.device(arena, i));
      }
      return new CudaDriver(version, devices);
    }
  }

  @SuppressWarnings("restricted")
  private static SymbolLookup lookup() {
    try {
      return SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    } catch (IllegalArgumentException e) {
      throw unavailable(
          "there is no NVIDIA driver: " + LIBRARY + " was not found by the system's loader");
    }
  }

  private static NereidException noDevice() {
    return unavailable(
        "NVIDIA's driver is there but no GPU that this process may use"
            + Optional.ofNullable(System.getenv("CUDA_VISIBLE_DEVICES"))
                .map(visible -> " (CUDA_VISIBLE_DEVICES=" + visible + ")")
                .orElse(""));
  }

  private static NereidException unavailable(String message) {
    return new NereidException(StatusCode.UNAVAILABLE, message);
  }

  /** The few functions of the driver that are needed, all of which return a CUresult. */
  private static final class Calls {

    private final SymbolLookup symbols;

    Calls(SymbolLookup symbols) {
      this.symbols = symbols;
    }

    CudaDevice device(Arena arena, int index) {
      MemorySegment number = arena.allocate(JAVA_INT);
      check(call("cuDeviceGet", number, index), "cuDeviceGet");
      int device = number.get(JAVA_INT, 0);
      MemorySegment name = arena.allocate(NAME_BYTES);
      check(call("cuDeviceGetName", name, NAME_BYTES, device), "cuDeviceGetName");
      MemorySegment bytes = arena.allocate(JAVA_LONG);
      check(call("cuDeviceTotalMem_v2", bytes, device), "cuDeviceTotalMem_v2");
      return new CudaDevice(
          index,
          name.getString(0),
          attribute(number, COMPUTE_CAPABILITY_MAJOR, device),
          attribute(number, COMPUTE_CAPABILITY_MINOR, device),
          bytes.get(JAVA_LONG, 0));
    }

    private int attribute(MemorySegment number, int attribute, int device) {
      check(call("cuDeviceGetAttribute", number, attribute, device), "cuDeviceGetAttribute");
      return number.get(JAVA_INT, 0);
    }

    /** Calls a function whose parameters are ints and pointers. */
    @SuppressWarnings("restricted")
    int call(String name, Object... arguments) {
      MemoryLayout[] layouts = new MemoryLayout[arguments.length];
      for (int i = 0; i < layouts.length; i++) {
        layouts[i] = arguments[i] instanceof MemorySegment ? ADDRESS : JAVA_INT;
      }
      MemorySegment function =
          symbols
              .find(name)
              .orElseThrow(() -> unavailable("NVIDIA's driver (" + LIBRARY + ") lacks " + name));
      MethodHandle handle =
          Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(JAVA_INT, layouts));
      try {
        return (int) handle.invokeWithArguments(arguments);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable t) {
        throw new IllegalStateException(t); // nothing checked can come out of a downcall
      }
    }

    void check(int result, String name) {
      if (result == NO_DEVICE) {
        throw noDevice();
      }
      if (result != 0) {
        throw unavailable(
            "NVIDIA's driver failed in " + name + ": " + errorText(result) + " (" + result + ")");
      }
    }

    private String errorText(int result) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment text = arena.allocate(ADDRESS);
        if (call("cuGetErrorString", result, text) != 0) {
          return "unknown error";
        }
        return text.get(C_STRING, 0).getString(0);
      }
    }
  }
}
