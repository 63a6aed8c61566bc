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

  /** Most that the tensors of traces may hold of the heap until they are written. */
  private static final long MOST_TENSOR_BYTES =
      Math.min(256L << 20, Runtime.getRuntime().maxMemory() / 16);

  private final Sink sink;
  private final ArrayBlockingQueue<Trace> traces;
  private final int batchSize;
  private final long delayNs;

  /** Traces in the queue; for moments less, while one is added that was already taken out. */
  private final AtomicInteger pending = new AtomicInteger();

  /** Bytes of the tensors in traces that are not written yet. */
  private final AtomicLong tensorBytes = new AtomicLong();

  private final LongAdder dropped = new LongAdder();
  private final Thread thread;
  private volatile boolean closing;

  /** The trace thread's own: what was told of lost traces, and when. */
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
   * Asks for room for contents of tensors, which the traces that wait hold together; who gets it
   * adds a trace with it, and it is free when that was written.
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
    // The first of a batch begins its time, the last ends it: others wake nobody.
    int count = pending.incrementAndGet();
    if (count == 1 || count == batchSize) {
      LockSupport.unpark(thread);
    }
  }

  long droppedCount() {
    return dropped.sum();
  }

  /** Writes what is there, and ends; whether it could within the timeout. */
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

  /** False: there are none, and there will be none. */
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

    /** Takes traces; fails when they are lost. */
    void write(List<Trace> traces) throws IOException;

    /** From now on nothing may take longer than until then, by the clock of System.nanoTime. */
    default void endBy(long deadlineNs) {}
  }
}
