package io.nereid.internal.ffi;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.file.Path;

/** How functions of the core are called from Java, and functions of Java by the core. */
public final class NativeCalls {

  /** What the loaded library exports; null: it was not loaded yet. Written once. */
  static volatile SymbolLookup symbols;

  /** Where that was loaded from. */
  static volatile Path loadedFrom;

  private NativeCalls() {}

  static MethodHandle downcall(String name, FunctionDescriptor type, Linker.Option... options) {
    return downcall(symbols, loadedFrom, name, type, options);
  }

  /** A function of the library that was loaded from a path. */
  @SuppressWarnings("restricted")
  static MethodHandle downcall(
      SymbolLookup library,
      Path path,
      String name,
      FunctionDescriptor type,
      Linker.Option... options) {
    var address =
        library
            .find(name)
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.FAILED_PRECONDITION,
                    "the native library " + path + " lacks " + name));
    return Linker.nativeLinker().downcallHandle(address, type, options);
  }

  /** Address of a C function that calls {@code target}; valid until the process ends. */
  @SuppressWarnings("restricted")
  public static long upcall(MethodHandle target, FunctionDescriptor type) {
    return Linker.nativeLinker().upcallStub(target, type, Arena.global()).address();
  }

  /**
   * Address of a C function of this type that calls the static method {@code name} of the class
   * that {@code lookup} is of; valid until the process ends. Nothing may be thrown out of it: an
   * exception that escapes an upcall ends the process.
   */
  public static long upcall(MethodHandles.Lookup lookup, String name, FunctionDescriptor type) {
    try {
      return upcall(lookup.findStatic(lookup.lookupClass(), name, type.toMethodType()), type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
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
