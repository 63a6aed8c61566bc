package io.nereid.perf.compare;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Processor time of a process: of all its threads, native ones included, except a JVM's compilers,
 * whose work is not to be measured. It also runs inside forks of other versions, so it is one class
 * that uses only the JDK.
 *
 * <p>Linux reports a thread's time to the nanosecond while the thread does not run.
 */
public final class ThreadTime {

  private ThreadTime() {}

  /** Returns the time that this process used; negative: unknown on this system. */
  public static long ofThisProcess() {
    return at(Path.of("/proc/self/task"));
  }

  /**
   * Returns the time that another process used; negative: unknown on this system, or no such
   * process.
   */
  public static long of(long pid) {
    return at(Path.of("/proc", Long.toString(pid), "task"));
  }

  private static long at(Path threads) {
    long sumNs = 0;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(threads)) {
      for (Path thread : all) {
        sumNs += usedNs(thread);
      }
    } catch (IOException e) {
      return -1;
    }
    return sumNs;
  }

  private static long usedNs(Path thread) throws IOException {
    try {
      String name = Files.readString(thread.resolve("comm"));
      if (name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler")) {
        return 0;
      }
      String times = Files.readString(thread.resolve("schedstat"));
      return Long.parseLong(times.substring(0, times.indexOf(' ')));
    } catch (IOException e) {
      if (Files.exists(thread)) {
        throw e;
      }
      return 0; // the thread ended meanwhile
    }
  }
}
