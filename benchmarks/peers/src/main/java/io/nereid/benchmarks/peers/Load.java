package io.nereid.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import io.nereid.benchmarks.peers.Plan.Case;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;

/** Keeps a number of requests in flight and counts the answers. */
final class Load {

  /** So far apart that two counters never share a cache line. */
  private static final int STRIDE = 16;

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration STEP = Duration.ofMillis(20);

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final Peer peer;
  private final Case load;
  private final AtomicLongArray counts;
  private final CountDownLatch running;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final List<Peer.Caller> callers = new ArrayList<>();
  private volatile boolean stopped;

  private Load(Peer peer, Case load) {
    this.peer = peer;
    this.load = load;
    counts = new AtomicLongArray((load.inFlight() + 1) * STRIDE);
    running = new CountDownLatch(load.inFlight());
  }

  /**
   * The measurement of one case in a fork.
   *
   * @param requests the number of answers
   * @param elapsedNs the time that they took
   * @param cpuNs processor time of the whole process meanwhile
   * @param answer a value of the first answer, the same for every side
   */
  record Result(long requests, long elapsedNs, long cpuNs, double answer) {

    double requestsPerSecond() {
      return requests * 1e9 / elapsedNs;
    }

    double cpuUsPerRequest() {
      return cpuNs / 1e3 / requests;
    }
  }

  /** Loads until {@code warmUp} of processor time is spent, and then measures. */
  static Result run(Peer peer, Case load, Duration warmUp, Duration measured) {
    return new Load(peer, load).run(warmUp, measured);
  }

  private Result run(Duration warmUp, Duration measured) {
    try {
      for (int i = 1; i <= load.inFlight(); i++) {
        start(i);
      }
      spend(warmUp);
      Result seen = measure(measured);
      stop();
      return seen;
    } finally {
      stopped = true;
      // After a failure requests may be under way still: the process ends with them.
      if (running.getCount() == 0) {
        callers.forEach(Peer.Caller::close);
      }
    }
  }

  private void start(int index) {
    if (load.callbacks()) {
      Peer.Caller[] caller = new Peer.Caller[1];
      caller[0] =
          peer.calling(
              new Peer.Answers() {
                @Override
                public void answered() {
                  count(index);
                  if (stopped) {
                    running.countDown();
                    return;
                  }
                  try {
                    caller[0].send();
                  } catch (Throwable t) { // whatever it is, the run must end and say so
                    failed(t);
                  }
                }

                @Override
                public void failed(Throwable cause) {
                  fail(cause);
                  running.countDown();
                }
              });
      callers.add(caller[0]);
      caller[0].send();
      return;
    }
    Peer.Caller caller = peer.waiting();
    callers.add(caller);
    Thread.ofVirtual()
        .name("caller-" + index)
        .start(() -> {
          try {
            while (!stopped) {
              caller.send();
              count(index);
            }
          } catch (Throwable t) { // whatever it is, the run must end and say so
            fail(t);
          } finally {
            running.countDown();
          }
        });
  }

  /**
   * Waits until the process has had so much processor time: on a machine that does much else, a
   * time by the clock would measure code that is not compiled yet.
   */
  private void spend(Duration cpuTime) {
    long startCpuNs = SYSTEM.getProcessCpuTime();
    long startNs = System.nanoTime();
    while (SYSTEM.getProcessCpuTime() - startCpuNs < cpuTime.toNanos()
        && System.nanoTime() - startNs < PATIENCE.toNanos()) {
      pause(STEP);
    }
  }

  /** At least as long as said, and until there was an answer. */
  private Result measure(Duration atLeast) {
    long before = total();
    long startCpuNs = SYSTEM.getProcessCpuTime();
    long startNs = System.nanoTime();
    do {
      pause(atLeast);
    } while (total() == before && System.nanoTime() - startNs < PATIENCE.toNanos());
    long elapsedNs = System.nanoTime() - startNs;
    long cpuNs = SYSTEM.getProcessCpuTime() - startCpuNs;
    long requests = total() - before;
    if (requests == 0) {
      throw new IllegalStateException(
          "%s: expected answers within %s, got none".formatted(load.id(), PATIENCE));
    }
    return new Result(requests, elapsedNs, cpuNs, Question.answer(load.workload()));
  }

  /** One writer a counter. */
  private void count(int index) {
    int at = index * STRIDE;
    counts.setOpaque(at, counts.getPlain(at) + 1);
  }

  private long total() {
    long total = 0;
    for (int i = 1; i <= load.inFlight(); i++) {
      total += counts.getOpaque(i * STRIDE);
    }
    return total;
  }

  private void fail(Throwable t) {
    failure.compareAndSet(null, t);
    stopped = true;
  }

  private void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while measuring " + load.id(), e);
    }
    Throwable t = failure.get();
    if (t != null) {
      throw new IllegalStateException(load.id() + " failed", t);
    }
  }

  private void stop() {
    stopped = true;
    try {
      if (!running.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            "%s: %d requests were not answered within %s"
                .formatted(load.id(), running.getCount(), PATIENCE));
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while stopping " + load.id(), e);
    }
  }
}
