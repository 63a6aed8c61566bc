package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Controls the libraries of test-doubles/rehearsal, which stand in for NVIDIA's, and reads their
 * counts.
 */
@SuppressWarnings("restricted")
final class Rehearsal {

  private static final int MOST_TEXT = 1 << 20;

  private final SymbolLookup library;

  private Rehearsal(SymbolLookup library) {
    this.library = library;
  }

  /** The one of this process; empty: NVIDIA's own libraries are used, or none. */
  static Optional<Rehearsal> find() {
    try {
      return Optional.of(
          new Rehearsal(SymbolLookup.libraryLookup("librehearsal.so", Arena.global())));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The nth call from now on fails with a code. */
  void fail(String call, long nth, int code) {
    try (Arena arena = Arena.ofConfined()) {
      invoke(
          "rehearsal_fail",
          FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_INT),
          arena.allocateFrom(call),
          nth,
          code);
    }
  }

  /** Takes back what was to fail, and mends devices that broke. */
  void reset() {
    invoke("rehearsal_reset", FunctionDescriptor.ofVoid());
  }

  /** How often each call was made. */
  Map<String, Long> calls() {
    Map<String, Long> calls = new TreeMap<>();
    text("rehearsal_calls")
        .lines()
        .map(line -> line.split(" "))
        .forEach(parts -> calls.put(parts[0], Long.valueOf(parts[1])));
    return calls;
  }

  /** Bytes that copies have moved so far: from the processor to a device, back, or within one. */
  long copied(int kind) {
    return (long) invoke("rehearsal_copied", FunctionDescriptor.of(JAVA_LONG, JAVA_INT), kind);
  }

  /** What was done that must not be done, and what is open. */
  String report() {
    return text("rehearsal_report");
  }

  long misuses() {
    return (long) invoke("rehearsal_misuses", FunctionDescriptor.of(JAVA_LONG));
  }

  private String text(String function) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(MOST_TEXT);
      invoke(
          function,
          FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG),
          buffer,
          buffer.byteSize());
      return buffer.getString(0);
    }
  }

  private Object invoke(String function, FunctionDescriptor type, Object... arguments) {
    try {
      MemorySegment address = library.findOrThrow(function);
      return Linker.nativeLinker().downcallHandle(address, type).invokeWithArguments(arguments);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException(t); // nothing checked can come out of a downcall
    }
  }
}
