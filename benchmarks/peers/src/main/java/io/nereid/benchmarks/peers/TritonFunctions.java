package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The functions of Triton's C API around a request, called as Nereid calls its own core: by Java's
 * foreign functions. Pointers are numbers here, so no call makes an object. Functions that return
 * something return an error, or 0.
 */
final class TritonFunctions {

  /** Told of a response or a request: which, flags, and the user pointer. */
  static final FunctionDescriptor TOLD = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG);

  /**
   * Wants memory for an output: allocator, name, bytes, preferred memory type and its id, user
   * pointer; then where to write the buffer, its user pointer, its memory type and id.
   */
  static final FunctionDescriptor ALLOCATE =
      FunctionDescriptor.of(
          JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
          JAVA_LONG, JAVA_LONG, JAVA_LONG);

  /** Gives memory back: allocator, buffer, its user pointer, bytes, memory type and its id. */
  static final FunctionDescriptor FREE =
      FunctionDescriptor.of(
          JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

  private static final Linker LINKER = Linker.nativeLinker();

  private final SymbolLookup library;
  private final MethodHandle allocatorNew;
  private final MethodHandle setReleaseCallback;
  private final MethodHandle setResponseCallback;
  private final MethodHandle inferAsync;
  private final MethodHandle responseError;
  private final MethodHandle responseDelete;

  /** Finds the functions of a library, which is never unloaded. */
  TritonFunctions(Path file) {
    library = SymbolLookup.libraryLookup(file, Arena.global());
    allocatorNew = function("ResponseAllocatorNew", 4);
    setReleaseCallback = function("InferenceRequestSetReleaseCallback", 3);
    setResponseCallback = function("InferenceRequestSetResponseCallback", 5);
    inferAsync = function("ServerInferAsync", 3);
    responseError = function("InferenceResponseError", 1);
    responseDelete = function("InferenceResponseDelete", 1);
  }

  private MethodHandle function(String name, int argumentCount) {
    MemoryLayout[] arguments = new MemoryLayout[argumentCount];
    Arrays.fill(arguments, JAVA_LONG);
    return LINKER.downcallHandle(
        library.findOrThrow("TRITONSERVER_" + name), FunctionDescriptor.of(JAVA_LONG, arguments));
  }

  /** A static method of the caller's as a C function, for good. */
  static long callback(MethodHandles.Lookup lookup, String method, FunctionDescriptor descriptor) {
    try {
      MethodHandle target =
          lookup.findStatic(lookup.lookupClass(), method, descriptor.toMethodType());
      MemorySegment stub = LINKER.upcallStub(target, descriptor, Arena.global());
      return stub.address();
    } catch (NoSuchMethodException | IllegalAccessException e) {
      throw new IllegalStateException("there is no method for " + method, e);
    }
  }

  long allocatorNew(long allocatorOut, long allocate, long free) {
    try {
      return (long) allocatorNew.invokeExact(allocatorOut, allocate, free, 0L);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  long setReleaseCallback(long request, long released, long userData) {
    try {
      return (long) setReleaseCallback.invokeExact(request, released, userData);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  long setResponseCallback(long request, long allocator, long completed, long userData) {
    try {
      return (long)
          setResponseCallback.invokeExact(request, allocator, userData, completed, userData);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  long inferAsync(long server, long request) {
    try {
      return (long) inferAsync.invokeExact(server, request, 0L);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  long responseError(long response) {
    try {
      return (long) responseError.invokeExact(response);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  long responseDelete(long response) {
    try {
      return (long) responseDelete.invokeExact(response);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  private static IllegalStateException unexpected(Throwable t) {
    return new IllegalStateException("a call into Triton's core failed", t);
  }
}
