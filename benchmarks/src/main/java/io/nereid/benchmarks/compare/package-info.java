/** Runs the benchmarks of two builds as the forks that {@link io.nereid.perf.compare} compares. */
package io.nereid.benchmarks.compare;
