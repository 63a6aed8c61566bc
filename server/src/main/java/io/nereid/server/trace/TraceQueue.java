package io.nereid.server.trace;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Traces on their way from requests to the sink, and the thread that carries them. The queue is
 * bounded and a request never waits for it: a trace that does not fit is dropped and counted.
 */
final class TraceQueue {

  private static final Logger LOGGER = System.getLogger(TraceQueue.class.getName());

  /** The time between two lines of the log about lost traces. */
  private static final long REPORT_EVERY_NS = TimeUnit.MINUTES.toNanos(1);

  /** The most heap for tensors of traces until they are written. */
  private static final long MOST_TENSOR_BYTES =
      Math.min(256L << 20, Runtime.getRuntime().maxMemory() / 16);

  private final Sink sink;
  private final ArrayBlockingQueue<Trace> traces;
  private final int batchSize;
  private final long delayNs;

  /**
   * The number of traces in the queue; briefly too low when a trace is taken out before it was
   * counted.
   */
  private final AtomicInteger pending = new AtomicInteger();

  /** Bytes of the tensors in traces that are not written yet. */
  private final AtomicLong tensorBytes = new AtomicLong();

  private final LongAdder dropped = new LongAdder();
  private final Thread thread;
  private volatile boolean closing;

  /** The last report of lost traces and its time; only the trace thread uses them. */
  private long reportedCount;

  private long reportedNs = System.nanoTime() - REPORT_EVERY_NS;
  private String lastFailure;

  TraceQueue(Sink sink, int capacity, int batchSize, Duration delay) {
    this.sink = sink;
    this.batchSize = batchSize;
    traces = new ArrayBlockingQueue<>(capacity);
    delayNs = delay.toNanos();
    thread = Thread.ofPlatform().daemon().name("nrd-trace").start(this::run);
  }

  /**
   * Reserves room for contents of tensors, which is limited for all waiting traces together. True:
   * the caller adds a trace with them, and the room is free when that is written.
   */
  boolean takeBytes(long byteSize) {
    if (tensorBytes.addAndGet(byteSize) <= MOST_TENSOR_BYTES) {
      return true;
    }
    tensorBytes.addAndGet(-byteSize);
    return false;
  }

  void add(Trace trace) {
    if (closing || !traces.offer(trace)) {
      dropped.increment();
      tensorBytes.addAndGet(-trace.tensorBytes());
      return;
    }
    // Only the first trace of a batch, which starts its delay, and the last one wake the thread.
    int count = pending.incrementAndGet();
    if (count == 1 || count == batchSize) {
      LockSupport.unpark(thread);
    }
  }

  long droppedCount() {
    return dropped.sum();
  }

  /** Writes the waiting traces, and ends; true if that worked within the timeout. */
  boolean close(Duration timeout) {
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    sink.endBy(deadlineNs);
    closing = true;
    LockSupport.unpark(thread);
    try {
      return thread.join(timeout) && System.nanoTime() - deadlineNs < 0; // else the sink gave up
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void run() {
    List<Trace> batch = new ArrayList<>();
    while (awaitBatch()) {
      traces.drainTo(batch, batchSize);
      pending.addAndGet(-batch.size());
      write(batch);
      tensorBytes.addAndGet(-batch.stream().mapToLong(Trace::tensorBytes).sum());
      batch.clear();
      report();
    }
    report();
  }

  /** Waits for a batch; false: there are no traces, and there will be none. */
  private boolean awaitBatch() {
    while (traces.isEmpty()) {
      if (closing) {
        return false;
      }
      LockSupport.park(this);
    }
    long startNs = System.nanoTime();
    while (!closing && pending.get() < batchSize) {
      long leftNs = delayNs - (System.nanoTime() - startNs);
      if (leftNs <= 0) {
        break;
      }
      LockSupport.parkNanos(this, leftNs);
    }
    return true;
  }

  private void write(List<Trace> batch) {
    try {
      sink.write(batch);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      dropped.add(batch.size());
      lastFailure = e.getMessage() == null ? e.toString() : e.getMessage();
    }
  }

  private void report() {
    long count = dropped.sum();
    long nowNs = System.nanoTime();
    if (count > reportedCount && (closing || nowNs - reportedNs >= REPORT_EVERY_NS)) {
      LOGGER.log(
          Level.WARNING,
          "traces lost: {0}, the last because {1}",
          Long.toString(count - reportedCount),
          lastFailure == null ? "they came faster than they could be written" : lastFailure);
      reportedCount = count;
      reportedNs = nowNs;
      lastFailure = null;
    }
  }

  /** The place where traces end up. Only the trace thread uses it, except for {@link #endBy}. */
  interface Sink {

    /** Writes traces; throws if they are lost. */
    void write(List<Trace> traces) throws IOException;

    /** Limits all further work to a deadline, by System.nanoTime. */
    default void endBy(long deadlineNs) {}
  }
}
