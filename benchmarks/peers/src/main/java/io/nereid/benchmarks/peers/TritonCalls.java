package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
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
import java.util.Arrays;

/**
 * Calls Triton's C API as Nereid calls its own core, by Java's foreign functions. All functions
 * here return an error, or 0. Any thread.
 */
final class TritonCalls {

  /** All native memory, for an address that the core says. */
  static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final Linker LINKER = Linker.nativeLinker();

  /** The library is found as the path of the process's libraries says, and never unloaded. */
  private static final SymbolLookup LIBRARY =
      SymbolLookup.libraryLookup("libtritonserver.so", Arena.global());

  private static final MethodHandle ERROR_TEXT =
      handle("ErrorMessage", FunctionDescriptor.of(ADDRESS, JAVA_LONG));

  private TritonCalls() {}

  /** A function of so many arguments that are numbers or pointers of 64 bits. */
  static MethodHandle function(String name, int argumentCount) {
    MemoryLayout[] arguments = new MemoryLayout[argumentCount];
    Arrays.fill(arguments, JAVA_LONG);
    return handle(name, FunctionDescriptor.of(JAVA_LONG, arguments));
  }

  private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(LIBRARY.findOrThrow("TRITONSERVER_" + name), descriptor);
  }

  /** Calls a function once, with arguments of the types that it has. */
  static void call(String name, Object... arguments) {
    MemoryLayout[] layouts =
        Arrays.stream(arguments).map(TritonCalls::layout).toArray(MemoryLayout[]::new);
    try {
      check(
          (long)
              handle(name, FunctionDescriptor.of(JAVA_LONG, layouts))
                  .invokeWithArguments(arguments));
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static MemoryLayout layout(Object argument) {
    return switch (argument) {
      case Boolean _ -> JAVA_BOOLEAN;
      case Integer _ -> JAVA_INT;
      case Long _ -> JAVA_LONG;
      case MemorySegment _ -> ADDRESS;
      default -> throw new IllegalArgumentException("no argument in C: " + argument.getClass());
    };
  }

  /** Calls a function that makes something and writes its address to its first argument. */
  static long make(String name, Object... arguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      Object[] all = new Object[arguments.length + 1];
      all[0] = out;
      System.arraycopy(arguments, 0, all, 1, arguments.length);
      call(name, all);
      return out.get(JAVA_LONG, 0);
    }
  }

  /** A text in C that stays. */
  static MemorySegment text(Object value) {
    return Arena.global().allocateFrom(value.toString());
  }

  /** A static method of the caller's as a C function, for good. */
  static long callback(MethodHandles.Lookup lookup, String method, FunctionDescriptor descriptor) {
    try {
      MethodHandle target =
          lookup.findStatic(lookup.lookupClass(), method, descriptor.toMethodType());
      return LINKER.upcallStub(target, descriptor, Arena.global()).address();
    } catch (NoSuchMethodException | IllegalAccessException e) {
      throw new IllegalStateException("there is no method for " + method, e);
    }
  }

  /** Throws the error that a call returned, unless it is 0. */
  static void check(long error) throws Throwable {
    if (error != 0) {
      MemorySegment message = (MemorySegment) ERROR_TEXT.invokeExact(error);
      throw new IllegalStateException(
          "Triton's core says " + message.reinterpret(Long.MAX_VALUE).getString(0));
    }
  }

  /** A call has no exceptions but those of {@link #check}. */
  static RuntimeException failed(Throwable t) {
    return t instanceof RuntimeException known
        ? known
        : new IllegalStateException("a call into Triton's core failed", t);
  }
}
