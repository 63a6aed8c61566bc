package io.nereid.benchmarks.counters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Counts this process's system calls on files and sockets, by strace. */
final class SystemCalls {

  private static final long PATIENCE_MS = 120_000;

  /** The system calls that frontends use; not every strace knows those with a question mark. */
  private static final String CALLS =
      "read,write,readv,writev,recvfrom,sendto,recvmsg,sendmsg,poll,ppoll,epoll_wait,epoll_pwait,"
          + "?epoll_pwait2,epoll_ctl";

  /**
   * The last line of strace's summary has: share, seconds, microseconds a call, calls, errors,
   * "total".
   */
  private static final Pattern TOTAL =
      Pattern.compile("\\s*100\\.00\\s+[\\d.]+\\s+\\d+\\s+(\\d+).*total");

  private final Path summary;

  /** Leaves strace's summary in a file, for who wants to know which calls they are. */
  SystemCalls(Path summary) {
    this.summary = summary;
  }

  /** Calls while {@code requests} runs; empty: this system does not let processes be traced. */
  OptionalDouble during(Allocation.Requests requests, int count) throws Exception {
    Process strace =
        new ProcessBuilder(
                "strace",
                "-f",
                "-c",
                "-e",
                "trace=" + CALLS,
                "-o",
                summary.toString(),
                "-p",
                Long.toString(ProcessHandle.current().pid()))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (!awaitTracing(strace)) {
        return OptionalDouble.empty();
      }
      requests.make(count);
    } finally {
      new ProcessBuilder(List.of("kill", "-INT", Long.toString(strace.pid()))).start().waitFor();
      if (!strace.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
        strace.destroyForcibly();
      }
    }
    for (String line : Files.readAllLines(summary)) {
      Matcher total = TOTAL.matcher(line);
      if (total.matches()) {
        return OptionalDouble.of(Double.parseDouble(total.group(1)) / count);
      }
    }
    throw new IOException("expected a line with the total of calls in " + summary);
  }

  /** Until all threads are traced; false: they will not be. */
  private static boolean awaitTracing(Process strace) throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + PATIENCE_MS * 1_000_000;
    while (System.nanoTime() < deadlineNs) {
      if (strace.waitFor(20, TimeUnit.MILLISECONDS)) {
        return false;
      }
      if (allTraced()) {
        return true;
      }
    }
    return false;
  }

  private static boolean allTraced() throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      for (Path task : tasks.toList()) {
        try {
          if (Files.readString(task.resolve("status")).contains("TracerPid:\t0\n")) {
            return false;
          }
        } catch (IOException e) {
          // The thread has ended.
        }
      }
    }
    return true;
  }
}
