package io.nereid.internal.ffi;

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
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;

/** Calls functions of libraries from Java, and lets these call functions of Java. */
public final class NativeCalls {

  /** The symbols that the loaded library exports; null: it was not loaded yet. Written once. */
  static volatile SymbolLookup symbols;

  /** The file that the library was loaded from. */
  static volatile Path loadedFrom;

  /** A call of a function that answers nothing. */
  public interface Call {
    void run() throws Throwable;
  }

  /**
   * A call of a function that returns a status, and writes the reason of a failure into a record.
   */
  public interface FallibleCall {
    int status(long error) throws Throwable;
  }

  /** A fallible call of a function that makes something, whose address it writes to {@code out}. */
  public interface MakingCall {
    int status(Arena arena, long out, long error) throws Throwable;
  }

  private NativeCalls() {}

  static MethodHandle downcall(String name, FunctionDescriptor type, Linker.Option... options) {
    return downcall(symbols, loadedFrom, name, type, options);
  }

  /** A function that answers an int, a status in most cases. */
  static MethodHandle status(String name, MemoryLayout... parameters) {
    return downcall(name, FunctionDescriptor.of(JAVA_INT, parameters));
  }

  /** A function that answers nothing. */
  static MethodHandle nothing(String name, MemoryLayout... parameters) {
    return downcall(name, FunctionDescriptor.ofVoid(parameters));
  }

  /** A function of the library that was loaded from a path. */
  @SuppressWarnings("restricted")
  public static MethodHandle downcall(
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

  /** A function of this type whose address comes with each call. */
  @SuppressWarnings("restricted")
  public static MethodHandle downcall(FunctionDescriptor type) {
    return Linker.nativeLinker().downcallHandle(type);
  }

  /** The functions of a library, which stays loaded. */
  @SuppressWarnings("restricted")
  public static SymbolLookup library(Path path) {
    return SymbolLookup.libraryLookup(path, Arena.global());
  }

  /** A pointer to memory of this layout. */
  @SuppressWarnings("restricted")
  public static AddressLayout pointer(MemoryLayout target) {
    return ValueLayout.ADDRESS.withTargetLayout(target);
  }

  /** Address of a C function that calls {@code target}; valid until the process ends. */
  @SuppressWarnings("restricted")
  public static long upcall(MethodHandle target, FunctionDescriptor type) {
    return Linker.nativeLinker().upcallStub(target, type, Arena.global()).address();
  }

  /**
   * Address of a C function of this type that calls the static method {@code name} of {@code
   * lookup}'s class; valid until the process ends. The method must not throw: an exception that
   * escapes an upcall ends the process.
   */
  public static long upcall(MethodHandles.Lookup lookup, String name, FunctionDescriptor type) {
    try {
      return upcall(lookup.findStatic(lookup.lookupClass(), name, type.toMethodType()), type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Does the same for a function that answers a status, and takes an {@code nrd_error} behind the
   * parameters of the type: the exception that the method throws is written there.
   *
   * @param type the type of the method, which returns nothing
   * @param who throws the exception, in words
   */
  public static long fallibleUpcall(
      MethodHandles.Lookup lookup, String name, FunctionDescriptor type, String who) {
    try {
      MethodType own = type.toMethodType();
      MethodHandle target = lookup.findStatic(lookup.lookupClass(), name, own);
      MethodHandle report =
          MethodHandles.lookup()
              .findStatic(
                  ErrorRecord.class,
                  "report",
                  MethodType.methodType(int.class, Throwable.class, long.class, String.class));
      MethodHandle fallible =
          MethodHandles.catchException(
              MethodHandles.dropArguments(
                  MethodHandles.filterReturnValue(target, MethodHandles.zero(int.class)),
                  own.parameterCount(),
                  long.class),
              Throwable.class,
              MethodHandles.dropArguments(
                  MethodHandles.insertArguments(report, 2, who), 1, own.parameterList()));
      return upcall(fallible, type.appendArgumentLayouts(JAVA_LONG).changeReturnLayout(JAVA_INT));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // ---- Calls that are not made for each request -----------------------------------------------

  /** Calls a function that cannot fail. */
  public static void run(Call call) {
    try {
      call.run();
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** Throws the exception that a failed function describes. */
  public static void check(FallibleCall call) {
    try (Arena arena = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(arena);
      ErrorRecord.check(call.status(error), error);
    } catch (Throwable t) {
      throw unexpected(t);
    }
  }

  /** The address of the thing that a function makes; the arena is open during the call. */
  public static long make(MakingCall call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(error -> call.status(arena, out.address(), error));
      return out.get(JAVA_LONG, 0);
    }
  }

  /**
   * Returns the exception to throw in the catch around invokeExact: a downcall throws nothing
   * checked.
   */
  public static RuntimeException unexpected(Throwable t) {
    if (t instanceof RuntimeException e) {
      return e;
    }
    if (t instanceof Error e) {
      throw e;
    }
    return new IllegalStateException(t);
  }
}
