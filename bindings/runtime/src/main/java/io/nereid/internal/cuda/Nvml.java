package io.nereid.internal.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.NativeCalls;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * NVIDIA's management library, which tells how GPUs are doing. It needs no CUDA and starts none,
 * may be called from any thread, and stays open until the process ends.
 */
public final class Nvml extends DriverLibrary {

  private static final String LIBRARY = "libnvidia-ml.so.1";

  private static final int SUCCESS = 0;

  /** {@code NVML_DEVICE_UUID_V2_BUFFER_SIZE}. */
  private static final int UUID_BYTES = 96;

  /** {@code nvmlUtilization_t}, both in percent. */
  static final StructLayout UTILIZATION =
      MemoryLayout.structLayout(JAVA_INT.withName("gpu"), JAVA_INT.withName("memory"));

  /** {@code nvmlMemory_t}, in bytes. */
  static final StructLayout MEMORY =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("total"), JAVA_LONG.withName("free"), JAVA_LONG.withName("used"));

  private static final FunctionDescriptor READ = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS);

  private final MethodHandle utilization = function("nvmlDeviceGetUtilizationRates", READ);

  private final MethodHandle memory = function("nvmlDeviceGetMemoryInfo", READ);
  private final MethodHandle powerUsage = function("nvmlDeviceGetPowerUsage", READ);
  private final MethodHandle powerLimit = function("nvmlDeviceGetPowerManagementLimit", READ);
  private final MethodHandle energy = function("nvmlDeviceGetTotalEnergyConsumption", READ);
  private final MethodHandle errorString =
      function("nvmlErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT));
  private final List<Gpu> gpus;

  /** The library, found by the first caller and kept. */
  private static final class Found {
    static final Optional<Nvml> NVML = find();

    private static Optional<Nvml> find() {
      try {
        return Optional.of(open(LIBRARY));
      } catch (NereidException e) {
        return Optional.empty();
      }
    }
  }

  /** The library; empty if it is missing or finds no driver. */
  public static Optional<Nvml> instance() {
    return Found.NVML;
  }

  /** Opens a library that has NVML's functions. */
  static Nvml open(String name) {
    return new Nvml(name);
  }

  private Nvml(String name) {
    super(name);
    gpus = List.copyOf(start());
  }

  private List<Gpu> start() {
    MethodHandle init = function("nvmlInit_v2", FunctionDescriptor.of(JAVA_INT));
    MethodHandle count =
        function("nvmlDeviceGetCount_v2", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    MethodHandle byIndex =
        function(
            "nvmlDeviceGetHandleByIndex_v2", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    MethodHandle uuid =
        function("nvmlDeviceGetUUID", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    try (Arena arena = Arena.ofConfined()) {
      check("nvmlInit", (int) init.invokeExact());
      MemorySegment number = arena.allocate(JAVA_INT);
      check("nvmlDeviceGetCount", (int) count.invokeExact(number));
      MemorySegment handle = arena.allocate(ADDRESS);
      MemorySegment text = arena.allocate(UUID_BYTES);
      List<Gpu> found = new ArrayList<>();
      for (int i = 0; i < number.get(JAVA_INT, 0); i++) {
        // A GPU that this user may not see is left out; the others are listed.
        if ((int) byIndex.invokeExact(i, handle) == SUCCESS) {
          MemorySegment device = handle.get(ADDRESS, 0);
          check("nvmlDeviceGetUUID", (int) uuid.invokeExact(device, text, UUID_BYTES));
          found.add(new Gpu(text.getString(0), device));
        }
      }
      return found;
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  private void check(String function, int result) throws Throwable {
    if (result != SUCCESS) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "%s failed with %s: %s"
              .formatted(function, result, text((MemorySegment) errorString.invokeExact(result))));
    }
  }

  /** The GPUs of this machine or container, regardless of CUDA's environment variables. */
  public List<Gpu> gpus() {
    return gpus;
  }

  /** A GPU and its figures. A value is empty while the GPU does not report it. */
  public final class Gpu {

    private final String uuid;
    private final MemorySegment handle;

    private Gpu(String uuid, MemorySegment handle) {
      this.uuid = uuid;
      this.handle = handle;
    }

    /** The name that identifies the GPU everywhere, beginning with {@code GPU-}. */
    public String uuid() {
      return uuid;
    }

    /** The part of the last second or less in which a kernel ran, in percent. */
    public OptionalLong utilizationPercent() {
      return readInt(utilization, UTILIZATION, 0);
    }

    /** All of its memory. */
    public OptionalLong memoryTotalBytes() {
      return readLong(memory, MEMORY, 0);
    }

    /** The bytes of the GPU's memory that any process uses. */
    public OptionalLong memoryUsedBytes() {
      return readLong(
          memory, MEMORY, MEMORY.byteOffset(MemoryLayout.PathElement.groupElement("used")));
    }

    /** The power that the GPU draws, in milliwatts. */
    public OptionalLong powerUsageMilliwatts() {
      return readInt(powerUsage, JAVA_INT, 0);
    }

    /** The power that the GPU may draw, in milliwatts. */
    public OptionalLong powerLimitMilliwatts() {
      return readInt(powerLimit, JAVA_INT, 0);
    }

    /** The energy that the GPU has used since the driver was loaded, in millijoules. */
    public OptionalLong energyMillijoules() {
      return readLong(energy, JAVA_LONG, 0);
    }

    private OptionalLong readInt(MethodHandle function, MemoryLayout layout, long offset) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(layout);
        return (int) function.invokeExact(handle, out) == SUCCESS
            ? OptionalLong.of(Integer.toUnsignedLong(out.get(JAVA_INT, offset)))
            : OptionalLong.empty();
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
    }

    private OptionalLong readLong(MethodHandle function, MemoryLayout layout, long offset) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(layout);
        return (int) function.invokeExact(handle, out) == SUCCESS
            ? OptionalLong.of(out.get(JAVA_LONG, offset))
            : OptionalLong.empty();
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
    }
  }
}
