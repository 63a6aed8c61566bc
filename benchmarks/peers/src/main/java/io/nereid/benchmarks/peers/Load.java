package io.nereid.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import io.nereid.benchmarks.peers.Plan.Case;
import io.nereid.perf.LoadTest;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Measures the answers to the requests that a {@link LoadTest} keeps in flight. */
record Load(Case load, LoadTest test) {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration STEP = Duration.ofMillis(20);

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

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
    List<Peer.Caller> callers = new ArrayList<>();
    Result seen;
    LoadTest test =
        LoadTest.start(
            load.inFlight(),
            answered -> {
              Peer.Caller caller =
                  load.callbacks() ? peer.calling(answered) : new Waiting(peer.waiting(), answered);
              callers.add(caller);
              return caller::send;
            });
    try (test) {
      Load one = new Load(load, test);
      one.spend(warmUp);
      seen = one.measure(measured);
    }
    // After a failure requests may be under way still: the process ends with them.
    if (test.outstanding() > 0) {
      throw new IllegalStateException(
          "%s: %d requests were not answered in the end".formatted(load.id(), test.outstanding()));
    }
    callers.forEach(Peer.Caller::close);
    return seen;
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
    test.next();
    long startCpuNs = SYSTEM.getProcessCpuTime();
    long startNs = System.nanoTime();
    long requests = 0;
    do {
      pause(atLeast);
      requests += test.next().requests();
    } while (requests == 0 && System.nanoTime() - startNs < PATIENCE.toNanos());
    long elapsedNs = System.nanoTime() - startNs;
    long cpuNs = SYSTEM.getProcessCpuTime() - startCpuNs;
    if (requests == 0) {
      throw new IllegalStateException(
          "%s: expected answers within %s, got none".formatted(load.id(), PATIENCE));
    }
    return new Result(requests, elapsedNs, cpuNs, Question.answer(load.workload()));
  }

  private void pause(Duration time) {
    LockSupport.parkNanos(time.toNanos());
    test.firstError()
        .ifPresent(error -> {
          throw new IllegalStateException(load.id() + " failed: " + error);
        });
  }

  /**
   * A virtual thread that sends and waits. {@code answered} calls {@link #send} for the next
   * request on that thread, which therefore only notes it.
   */
  private static final class Waiting implements Peer.Caller {

    private final Peer.Caller caller;
    private final Consumer<Throwable> answered;
    private volatile Thread thread;
    private boolean goesOn; // by the thread

    Waiting(Peer.Caller caller, Consumer<Throwable> answered) {
      this.caller = caller;
      this.answered = answered;
    }

    @Override
    public void send() {
      if (Thread.currentThread() == thread) {
        goesOn = true;
      } else {
        thread = Thread.ofVirtual().name("caller").unstarted(this::converse);
        thread.start();
      }
    }

    private void converse() {
      do {
        goesOn = false;
        Throwable failure = null;
        try {
          caller.send();
        } catch (Throwable t) { // whatever it is, the run must end and say so
          failure = t;
        }
        answered.accept(failure);
      } while (goesOn);
    }

    @Override
    public void close() {
      caller.close();
    }
  }
}
