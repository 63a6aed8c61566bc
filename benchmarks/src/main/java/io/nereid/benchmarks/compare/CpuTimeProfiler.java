package io.nereid.benchmarks.compare;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Processor time of an operation: of all threads of the JVM, native ones included, but not of the
 * JVM's compilers, whose work is not the operation's. It runs inside the forks of both sides, which
 * may be of other versions: it uses nothing but JMH and the JDK, and is one class.
 *
 * <p>Linux tells the time that a thread ran to the nanosecond when the thread does not run, as the
 * workers do not between iterations.
 */
public final class CpuTimeProfiler implements InternalProfiler {

  /** Nanoseconds of an operation. */
  public static final String LABEL = "nrd.cpu.norm";

  private static final Path TASKS = Path.of("/proc/self/task");

  private long startNs;

  /** Made by JMH. */
  public CpuTimeProfiler() {}

  @Override
  public String getDescription() {
    return "processor time of an operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    startNs = usedNs();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long usedNs = usedNs() - startNs;
    List<ScalarResult> results = new ArrayList<>();
    long operations = result.getMetadata().getAllOps();
    if (usedNs > 0 && operations > 0) {
      results.add(
          new ScalarResult(LABEL, (double) usedNs / operations, "ns/op", AggregationPolicy.AVG));
    }
    return results;
  }

  /** Negative: this system does not tell. */
  private static long usedNs() {
    long sum = 0;
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        sum += usedNs(task);
      }
    } catch (IOException e) {
      return -1;
    }
    return sum;
  }

  private static long usedNs(Path task) throws IOException {
    try {
      String name = Files.readString(task.resolve("comm"));
      if (name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler")) {
        return 0;
      }
      String times = Files.readString(task.resolve("schedstat"));
      return Long.parseLong(times.substring(0, times.indexOf(' ')));
    } catch (IOException e) {
      if (Files.exists(task)) {
        throw e;
      }
      return 0; // it ended while we looked
    }
  }
}
