package io.nereid.benchmarks.counters;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts the bytes that all threads of this JVM take from the Java heap. */
final class Allocation {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /**
   * The JVM itself, and compilations under way, allocate now and then: the least round is right.
   */
  private static final int ROUNDS = 5;

  private Allocation() {}

  /** Something that makes requests. */
  @FunctionalInterface
  interface Requests {
    void make(int count) throws Exception;
  }

  /** Bytes of one request, once {@code warmUps} of them have had their code compiled. */
  static double bytes(Requests requests, int warmUps, int count) throws Exception {
    requests.make(warmUps);
    double least = Double.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long before = THREADS.getTotalThreadAllocatedBytes();
      requests.make(count);
      long after = THREADS.getTotalThreadAllocatedBytes();
      least = Math.min(least, (double) (after - before) / count);
    }
    return Math.round(least);
  }
}
