package io.nereid.internal.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
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

/**
 * The functions of the CUDA driver API that are used here, under the names that cuda.h gives them
 * since CUDA 4 (those with _v2 are what its macros stand for). Pointers into host and device memory
 * are numbers, as CUdeviceptr, CUcontext and CUstream are. Each throws unless the driver answers
 * CUDA_SUCCESS.
 */
final class CudaLibrary extends DriverLibrary {

  /** {@code CU_IPC_HANDLE_SIZE}. */
  static final int IPC_HANDLE_BYTES = 64;

  /** {@code CUipcMemHandle}, which is passed by value. */
  static final StructLayout IPC_HANDLE =
      MemoryLayout.structLayout(
          MemoryLayout.sequenceLayout(IPC_HANDLE_BYTES, JAVA_BYTE).withName("reserved"));

  /** {@code CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}, the only flags that there are. */
  private static final int IPC_LAZY_PEER_ACCESS = 1;

  /** {@code CU_MEMHOSTREGISTER_PORTABLE}: locked for every context, so for every GPU. */
  private static final int HOST_REGISTER_PORTABLE = 1;

  /** {@code CU_STREAM_NON_BLOCKING}: does not wait for work on the default stream. */
  private static final int STREAM_NON_BLOCKING = 1;

  // Values of CUdevice_attribute.
  static final int COMPUTE_CAPABILITY_MAJOR = 75;
  static final int COMPUTE_CAPABILITY_MINOR = 76;

  private static final int SUCCESS = 0;
  private static final int OUT_OF_MEMORY = 2;
  private static final int NO_DEVICE = 100;
  private static final int NAME_BYTES = 256;

  private static final FunctionDescriptor COPY = status(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  private final MethodHandle init = function("cuInit", status(JAVA_INT));
  private final MethodHandle driverGetVersion = function("cuDriverGetVersion", status(ADDRESS));
  private final MethodHandle deviceGetCount = function("cuDeviceGetCount", status(ADDRESS));
  private final MethodHandle deviceGet = function("cuDeviceGet", status(ADDRESS, JAVA_INT));
  private final MethodHandle deviceGetName =
      function("cuDeviceGetName", status(ADDRESS, JAVA_INT, JAVA_INT));
  private final MethodHandle deviceGetAttribute =
      function("cuDeviceGetAttribute", status(ADDRESS, JAVA_INT, JAVA_INT));
  private final MethodHandle deviceTotalMem =
      function("cuDeviceTotalMem_v2", status(ADDRESS, JAVA_INT));
  private final MethodHandle primaryCtxRetain =
      function("cuDevicePrimaryCtxRetain", status(ADDRESS, JAVA_INT));
  private final MethodHandle ctxSetCurrent = function("cuCtxSetCurrent", status(JAVA_LONG));
  private final MethodHandle ctxPushCurrent = function("cuCtxPushCurrent_v2", status(JAVA_LONG));
  private final MethodHandle ctxPopCurrent = function("cuCtxPopCurrent_v2", status(ADDRESS));
  private final MethodHandle streamCreate = function("cuStreamCreate", status(ADDRESS, JAVA_INT));
  private final MethodHandle streamSynchronize = function("cuStreamSynchronize", status(JAVA_LONG));
  private final MethodHandle memcpyDtoHAsync = function("cuMemcpyDtoHAsync_v2", COPY);
  private final MethodHandle memcpyHtoDAsync = function("cuMemcpyHtoDAsync_v2", COPY);
  private final MethodHandle memAlloc = function("cuMemAlloc_v2", status(ADDRESS, JAVA_LONG));
  private final MethodHandle memFree = function("cuMemFree_v2", status(JAVA_LONG));
  private final MethodHandle memGetAddressRange =
      function("cuMemGetAddressRange_v2", status(ADDRESS, ADDRESS, JAVA_LONG));
  private final MethodHandle ipcOpenMemHandle =
      function("cuIpcOpenMemHandle_v2", status(ADDRESS, IPC_HANDLE, JAVA_INT));
  private final MethodHandle ipcCloseMemHandle = function("cuIpcCloseMemHandle", status(JAVA_LONG));
  private final MethodHandle memHostRegister =
      function("cuMemHostRegister_v2", status(JAVA_LONG, JAVA_LONG, JAVA_INT));
  private final MethodHandle memHostUnregister = function("cuMemHostUnregister", status(JAVA_LONG));
  private final MethodHandle getErrorName = function("cuGetErrorName", status(JAVA_INT, ADDRESS));
  private final MethodHandle getErrorString =
      function("cuGetErrorString", status(JAVA_INT, ADDRESS));

  /** Opens the driver that the system's loader finds by this name, or at this path. */
  CudaLibrary(String name) {
    super(name);
  }

  /** A call of a function, which answers a CUresult. */
  private interface Call {
    int result() throws Throwable;
  }

  /** A call of a function that writes a number. */
  private interface Question {
    int result(MemorySegment out) throws Throwable;
  }

  private void call(String function, Call call) {
    try {
      check(function, call.result());
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** The number that a function writes: an int or a long, whose lower bytes come first. */
  private long answer(String function, Question question) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(function, question.result(out));
      return out.get(JAVA_LONG, 0);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** A function that answers a CUresult. */
  private static FunctionDescriptor status(MemoryLayout... parameters) {
    return FunctionDescriptor.of(JAVA_INT, parameters);
  }

  // ---- The driver and its devices --------------------------------------------------------------

  /** True if there is a device. */
  boolean init() {
    try {
      int result = (int) init.invokeExact(0);
      if (result != NO_DEVICE) {
        check("cuInit", result);
      }
      return result != NO_DEVICE;
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** The newest CUDA that the driver serves: 1000 times the major version, 10 times the minor. */
  int version() {
    return (int) answer("cuDriverGetVersion", out -> (int) driverGetVersion.invokeExact(out));
  }

  int deviceCount() {
    return (int) answer("cuDeviceGetCount", out -> (int) deviceGetCount.invokeExact(out));
  }

  /** The {@code CUdevice} with this number, from 0. */
  int device(int number) {
    return (int) answer("cuDeviceGet", out -> (int) deviceGet.invokeExact(out, number));
  }

  int attribute(int device, int attribute) {
    return (int)
        answer(
            "cuDeviceGetAttribute",
            out -> (int) deviceGetAttribute.invokeExact(out, attribute, device));
  }

  long totalMemory(int device) {
    return answer("cuDeviceTotalMem_v2", out -> (int) deviceTotalMem.invokeExact(out, device));
  }

  String deviceName(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(NAME_BYTES);
      check("cuDeviceGetName", (int) deviceGetName.invokeExact(out, NAME_BYTES, device));
      return out.getString(0);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  // ---- Contexts and streams --------------------------------------------------------------------

  /** The context that all users of the device share in this process, the CUDA runtime too. */
  long retainPrimaryContext(int device) {
    return answer(
        "cuDevicePrimaryCtxRetain", out -> (int) primaryCtxRetain.invokeExact(out, device));
  }

  void setCurrent(long context) {
    call("cuCtxSetCurrent", () -> (int) ctxSetCurrent.invokeExact(context));
  }

  void pushCurrent(long context) {
    try {
      check("cuCtxPushCurrent", (int) ctxPushCurrent.invokeExact(context));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /**
   * Undoes {@link #pushCurrent}. The result is ignored: all work before the call is done, and a
   * caller that needs a context on this thread pushes it.
   */
  void popCurrent() {
    try (Arena arena = Arena.ofConfined()) {
      int _ = (int) ctxPopCurrent.invokeExact(arena.allocate(ADDRESS));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  long createStream() {
    return answer(
        "cuStreamCreate", out -> (int) streamCreate.invokeExact(out, STREAM_NON_BLOCKING));
  }

  void synchronize(long stream) {
    try {
      check("cuStreamSynchronize", (int) streamSynchronize.invokeExact(stream));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  // ---- Memory ----------------------------------------------------------------------------------

  void copyToHost(long host, long device, long byteSize, long stream) {
    try {
      check("cuMemcpyDtoHAsync", (int) memcpyDtoHAsync.invokeExact(host, device, byteSize, stream));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  void copyToDevice(long device, long host, long byteSize, long stream) {
    try {
      check("cuMemcpyHtoDAsync", (int) memcpyHtoDAsync.invokeExact(device, host, byteSize, stream));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /**
   * Returns the number of bytes from {@code pointer} to the end of the allocation that it points
   * into.
   */
  long bytesFrom(long pointer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment base = arena.allocate(JAVA_LONG);
      MemorySegment size = arena.allocate(JAVA_LONG);
      check("cuMemGetAddressRange", (int) memGetAddressRange.invokeExact(base, size, pointer));
      return size.get(JAVA_LONG, 0) - (pointer - base.get(JAVA_LONG, 0));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  long allocate(long byteSize) {
    return answer("cuMemAlloc", out -> (int) memAlloc.invokeExact(out, byteSize));
  }

  void free(long pointer) {
    call("cuMemFree", () -> (int) memFree.invokeExact(pointer));
  }

  /** Maps memory of another process; a handle that was opened before gives the same address. */
  long openIpc(byte[] handle) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(IPC_HANDLE).copyFrom(MemorySegment.ofArray(handle));
      return answer(
          "cuIpcOpenMemHandle",
          out -> (int) ipcOpenMemHandle.invokeExact(out, value, IPC_LAZY_PEER_ACCESS));
    }
  }

  void closeIpc(long pointer) {
    call("cuIpcCloseMemHandle", () -> (int) ipcCloseMemHandle.invokeExact(pointer));
  }

  void registerHost(long memory, long byteSize) {
    call(
        "cuMemHostRegister",
        () -> (int) memHostRegister.invokeExact(memory, byteSize, HOST_REGISTER_PORTABLE));
  }

  void unregisterHost(long memory) {
    call("cuMemHostUnregister", () -> (int) memHostUnregister.invokeExact(memory));
  }

  // ---- Errors ----------------------------------------------------------------------------------

  private void check(String function, int result) {
    if (result != SUCCESS) {
      throw new NereidException(
          result == OUT_OF_MEMORY ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
          function
              + " failed with "
              + errorText(getErrorName, result)
              + " ("
              + result
              + "): "
              + errorText(getErrorString, result));
    }
  }

  private static String errorText(MethodHandle function, int result) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      int status = (int) function.invokeExact(result, out);
      return status == SUCCESS ? text(out.get(ADDRESS, 0)) : "an unknown error";
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }
}
