package io.nereid.internal.ffi;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;

/** The loaded core. It is loaded once per process and stays until the process ends. */
public final class NativeLibrary {

  private static Path loadedFrom;
  private static volatile SymbolLookup symbols;

  private NativeLibrary() {}

  /** Throws unless Java lets this module call native code. */
  @SuppressWarnings("restricted")
  public static void checkAccess() {
    try {
      MemorySegment.NULL.reinterpret(1);
    } catch (IllegalCallerException e) {
      Module module = NativeLibrary.class.getModule();
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "Java does not let Nereid call native code: start it with --enable-native-access="
              + (module.isNamed() ? module.getName() : "ALL-UNNAMED"),
          e);
    }
  }

  /** Whether the core was loaded before. */
  public static boolean isLoaded() {
    return symbols != null;
  }

  /** Loads the library at {@code path} and checks that it fits this binding. */
  @SuppressWarnings("restricted")
  public static synchronized void load(Path path) {
    if (symbols != null) {
      if (!path.equals(loadedFrom)) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "the native library was already loaded from " + loadedFrom + ", not from " + path);
      }
      return;
    }
    SymbolLookup lookup;
    try {
      lookup = SymbolLookup.libraryLookup(path, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION, "cannot load the native library " + path, e);
    }
    List<String> differences = AbiCheck.differences(lookup);
    if (!differences.isEmpty()) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "the native library " + path + " does not fit: " + String.join("; ", differences));
    }
    loadedFrom = path;
    symbols = lookup;
  }

  @SuppressWarnings("restricted")
  static MethodHandle downcall(String name, FunctionDescriptor type, Linker.Option... options) {
    var address =
        symbols
            .find(name)
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.FAILED_PRECONDITION,
                    "the native library " + loadedFrom + " lacks " + name));
    return Linker.nativeLinker().downcallHandle(address, type, options);
  }

  /** Address of a C function that calls {@code target}; valid until the process ends. */
  @SuppressWarnings("restricted")
  public static long upcall(MethodHandle target, FunctionDescriptor type) {
    return Linker.nativeLinker().upcallStub(target, type, Arena.global()).address();
  }

  /** For the catch around invokeExact: nothing checked can come out of a downcall. */
  static RuntimeException unexpected(Throwable t) {
    if (t instanceof RuntimeException e) {
      return e;
    }
    if (t instanceof Error e) {
      throw e;
    }
    return new IllegalStateException(t);
  }
}
