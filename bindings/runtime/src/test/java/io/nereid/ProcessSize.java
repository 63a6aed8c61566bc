package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The memory that this process uses, in bytes.
 *
 * @param heap live on the Java heap
 * @param committed what the Java heap has from the system; it becomes resident bit by bit
 * @param malloc handed out by the C library and not given back, by this binding, the core, the JVM
 * @param resident pages in memory
 */
record ProcessSize(long heap, long committed, long malloc, long resident) {

  /** {@code struct mallinfo2}: ten sizes; the fifth is of mapped blocks, the eighth of others. */
  private static final MemoryLayout MALLINFO =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, JAVA_LONG).withName("sizes"));

  private static final long MAPPED = 4;
  private static final long IN_USE = 7;

  static ProcessSize withoutGarbage() throws IOException, InterruptedException {
    System.gc();
    System.gc(); // the heap shrinks to what the first left
    trimMalloc();
    Thread.sleep(1000); // the collector gives its pages back in the background
    Runtime runtime = Runtime.getRuntime();
    long committed = runtime.totalMemory();
    return new ProcessSize(
        committed - runtime.freeMemory(), committed, mallocBytes(), residentBytes());
  }

  /** Lets the C library give free pages back, of which the JVM's compilers leave many. */
  @SuppressWarnings("restricted")
  private static void trimMalloc() {
    Linker linker = Linker.nativeLinker();
    var trim = linker.defaultLookup().find("malloc_trim");
    if (trim.isPresent()) {
      try {
        int trimmed =
            (int)
                linker
                    .downcallHandle(trim.get(), FunctionDescriptor.of(JAVA_INT, JAVA_LONG))
                    .invokeExact(0L);
        assert trimmed >= 0;
      } catch (Throwable t) {
        throw new AssertionError(t);
      }
    }
  }

  @SuppressWarnings("restricted")
  private static long mallocBytes() {
    Linker linker = Linker.nativeLinker();
    var mallinfo = linker.defaultLookup().find("mallinfo2");
    if (mallinfo.isEmpty()) {
      return 0; // not glibc, or one before 2.33
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sizes =
          (MemorySegment)
              linker
                  .downcallHandle(mallinfo.get(), FunctionDescriptor.of(MALLINFO))
                  .invokeExact((SegmentAllocator) arena);
      return sizes.getAtIndex(JAVA_LONG, MAPPED) + sizes.getAtIndex(JAVA_LONG, IN_USE);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  private static long residentBytes() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
              .filter(line -> line.startsWith("VmRSS:"))
              .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
              .findFirst()
              .orElseThrow()
          << 10;
    }
  }

  @Override
  public String toString() {
    return (heap >> 10)
        + " KiB of "
        + (committed >> 20)
        + " MiB heap, "
        + (malloc >> 10)
        + " KiB malloc, "
        + (resident >> 20)
        + " MiB resident";
  }
}
