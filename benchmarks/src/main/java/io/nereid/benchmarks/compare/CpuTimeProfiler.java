package io.nereid.benchmarks.compare;

import io.nereid.perf.compare.ThreadTime;
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
 * Processor time of an operation, as {@link ThreadTime} counts it: workers do not run between
 * iterations. It runs inside the forks of both sides, which may be of other versions: it uses
 * nothing but JMH, the JDK and that class.
 */
public final class CpuTimeProfiler implements InternalProfiler {

  /** Nanoseconds of an operation. */
  public static final String LABEL = "nrd.cpu.norm";

  private long startNs;

  /** Made by JMH. */
  public CpuTimeProfiler() {}

  @Override
  public String getDescription() {
    return "processor time of an operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    startNs = ThreadTime.ofThisProcess();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long usedNs = ThreadTime.ofThisProcess() - startNs;
    List<ScalarResult> results = new ArrayList<>();
    long operations = result.getMetadata().getAllOps();
    if (usedNs > 0 && operations > 0) {
      results.add(
          new ScalarResult(LABEL, (double) usedNs / operations, "ns/op", AggregationPolicy.AVG));
    }
    return results;
  }
}
