package io.nereid.stores;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * A file that is only in memory. It has a path by which this process, and those that it starts, can
 * open it, until it is closed; who has it open then keeps it.
 *
 * @param number of its descriptor
 */
record Memfd(int number) implements AutoCloseable {

  private static final int CLOSE_ON_EXEC = 1;

  private static final MethodHandle CREATE = find("memfd_create", ValueLayout.ADDRESS);
  private static final MethodHandle CLOSE = find("close");

  @SuppressWarnings("restricted") // as all that calls native code
  private static MethodHandle find(String name, ValueLayout... first) {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor type =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, first)
            .appendArgumentLayouts(ValueLayout.JAVA_INT);
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
  }

  static Memfd create() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom("nereid-model");
      int number = (int) CREATE.invokeExact(name, CLOSE_ON_EXEC);
      if (number < 0) {
        throw new IOException("there is no memory for a file (memfd_create failed)");
      }
      return new Memfd(number);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  Path path() {
    return Path.of("/proc/" + ProcessHandle.current().pid() + "/fd/" + number);
  }

  @Override
  public void close() {
    try {
      int failed = (int) CLOSE.invokeExact(number);
      assert failed == 0;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }
}
