package io.nereid.benchmarks.compare;

/** Where forks come from. */
@FunctionalInterface
interface ForkSource {

  /** Measures one benchmark of one side in a fresh JVM. */
  Fork run(Side side, BenchmarkId id) throws MeasurementException;
}
