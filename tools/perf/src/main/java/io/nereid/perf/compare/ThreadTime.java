package io.nereid.perf.compare;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Processor time of a process: of all its threads, native ones included, but not of a JVM's
 * compilers, whose work is not that of what is measured. It also runs inside forks of other
 * versions: it uses nothing but the JDK, and is one class.
 *
 * <p>Linux tells the time that a thread ran to the nanosecond when the thread does not run.
 */
public final class ThreadTime {

  private ThreadTime() {}

  /** Returns the time that this process used; negative: this system does not tell. */
  public static long ofThisProcess() {
    return at(Path.of("/proc/self/task"));
  }

  /**
   * Returns the time that another process used; negative: this system does not tell, or the process
   * is not there.
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
      return 0; // it ended while we looked
    }
  }
}
