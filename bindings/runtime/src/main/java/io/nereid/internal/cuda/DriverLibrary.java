package io.nereid.internal.cuda;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** A shared library that comes with NVIDIA's driver; once opened it stays. */
abstract class DriverLibrary {

  private final String name;
  private final SymbolLookup symbols;

  /** Opens the library that the system's loader finds by this name or path. */
  @SuppressWarnings("restricted")
  DriverLibrary(String name) {
    this.name = name;
    try {
      symbols = SymbolLookup.libraryLookup(name, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "there is no NVIDIA driver: " + name + " was not found by the system's loader");
    }
  }

  @SuppressWarnings("restricted")
  final MethodHandle function(String function, FunctionDescriptor type) {
    MemorySegment address =
        symbols
            .find(function)
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.UNAVAILABLE,
                    name + " lacks " + function + ": expected the library of an NVIDIA driver"));
    return Linker.nativeLinker().downcallHandle(address, type);
  }

  /** A C string that the library owns; empty: the pointer is null. */
  @SuppressWarnings("restricted")
  static String text(MemorySegment pointer) {
    return pointer.address() == 0 ? "" : pointer.reinterpret(Long.MAX_VALUE).getString(0);
  }
}
