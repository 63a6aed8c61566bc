package io.nereid.server.log;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * A line for each request. A thread of its own writes them: requests wait neither for it nor for
 * the disk. When it cannot keep up, lines are left out, and it says how many.
 */
public final class AccessLog implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(AccessLog.class.getName());

  /** Entries that may wait: some megabytes, of the longest some tens. */
  private static final int CAPACITY = 16 << 10;

  /**
   * How long entries gather before they are written: the thread is woken once for all of them, not
   * by each request.
   */
  private static final long GATHER_MS = 20;

  /** Characters that are written at once. */
  private static final int CHUNK_LENGTH = 64 << 10;

  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(1);
  private static final Duration CLOSE_TIME = Duration.ofSeconds(5);

  private final BlockingQueue<AccessEntry> entries = new ArrayBlockingQueue<>(CAPACITY);
  private final LongAdder dropped = new LongAdder();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final LogSettings log;
  private final LogOutput output;
  private final boolean ownOutput;
  private final Thread thread;

  // ---- Of the thread ---------------------------------------------------------------------------

  private final StringBuilder lines = new StringBuilder();
  private int lineCount;
  private long reported;
  private long reportedNs = System.nanoTime() - REPORT_NS;

  private AccessLog(LogSettings log, LogOutput output, boolean ownOutput) {
    this.log = log;
    this.output = output;
    this.ownOutput = ownOutput;
    thread = Thread.ofPlatform().daemon().name("nrd-access-log").start(this::run);
  }

  /** One that goes where the log goes, which must be closed after it. */
  public static AccessLog toLog(LogSettings log) {
    return new AccessLog(log, log.output(), false);
  }

  /** One that is appended to a file, in the log's form. */
  public static AccessLog toFile(Path file, LogSettings log) {
    return new AccessLog(log, LogOutput.file(file), true);
  }

  /** Has a line written soon, or counts it as dropped. Returns at once; from any thread. */
  public void add(AccessEntry entry) {
    if (closed.getCount() == 0 || !entries.offer(entry)) {
      dropped.increment();
    }
  }

  /** How many requests have no line. */
  public long droppedCount() {
    return dropped.sum();
  }

  private void run() {
    List<AccessEntry> batch = new ArrayList<>();
    boolean open = true;
    while (open) {
      open = gather(batch);
      entries.drainTo(batch);
      for (AccessEntry entry : batch) {
        entry.append(lines, log.values().format());
        lineCount++;
        if (lines.length() > CHUNK_LENGTH) {
          write();
        }
      }
      write();
      batch.clear();
      report(!open);
    }
  }

  /** Waits for an entry, and a little longer for others; false when there will be no more. */
  private boolean gather(List<AccessEntry> batch) {
    try {
      batch.add(entries.take());
      return !closed.await(GATHER_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false; // this closes
    }
  }

  private void write() {
    try {
      output.write(lines);
    } catch (IOException e) {
      dropped.add(lineCount); // which is reported
      LOGGER.log(Level.DEBUG, "the access log cannot be written", e);
    }
    lines.setLength(0);
    lineCount = 0;
  }

  /** Tells of what was dropped, not too often. */
  private void report(boolean last) {
    long now = dropped.sum();
    if (now > reported && (last || System.nanoTime() - reportedNs >= REPORT_NS)) {
      LOGGER.log(
          Level.WARNING,
          (now - reported)
              + " requests have no line in the access log: it cannot be written, or not as fast");
      reported = now;
      reportedNs = System.nanoTime();
    }
  }

  /** Writes what there is, for a few seconds at most. */
  @Override
  public void close() {
    closed.countDown();
    thread.interrupt();
    try {
      thread.join(CLOSE_TIME);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (ownOutput) {
      output.close();
    }
  }
}
