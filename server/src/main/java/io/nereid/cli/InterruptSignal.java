package io.nereid.cli;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * SIGINT of a process that was started with it ignored, as shells do with what a script runs in the
 * background. The JVM leaves an ignored signal ignored, although it has a handler for it: whoever
 * sends SIGINT to exactly this process would do so in vain.
 */
final class InterruptSignal {

  private static final int SIGINT = 2;
  private static final int SIGTERM = 15;

  /** SIG_IGN, which stands where a handler's address does: at the start of {@code sigaction}. */
  private static final long IGNORED = 1;

  /** More than the structure has in any C library. */
  private static final int ACTION_BYTES = 512;

  private InterruptSignal() {}

  /** From now on it does what SIGTERM does, if it was ignored. */
  @SuppressWarnings("restricted") // sigaction has nothing to do with memory but of its arguments
  static void accept() {
    MethodHandle sigaction =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("sigaction"),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment action = arena.allocate(ACTION_BYTES, Long.BYTES);
      int failed = (int) sigaction.invokeExact(SIGINT, MemorySegment.NULL, action);
      if (failed == 0 && action.get(ValueLayout.JAVA_LONG, 0) == IGNORED) {
        failed = (int) sigaction.invokeExact(SIGTERM, MemorySegment.NULL, action);
        if (failed == 0) {
          failed = (int) sigaction.invokeExact(SIGINT, action, MemorySegment.NULL);
        }
      }
    } catch (Throwable e) {
      throw new IllegalStateException("sigaction cannot be called", e);
    }
  }
}
