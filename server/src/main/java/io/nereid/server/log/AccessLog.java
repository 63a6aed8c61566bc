package io.nereid.server.log;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Writes a line for each request. A thread of its own does that: requests wait neither for it nor
 * for the disk. When it cannot keep up, lines are left out, and it says how many.
 */
public final class AccessLog implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(AccessLog.class.getName());

  /** Entries that may wait: some megabytes, of the longest some tens. */
  private static final int CAPACITY = 16 << 10;

  /**
   * Entries gather for so long before they are written: the thread is woken once for all of them,
   * not by each request.
   */
  private static final long GATHER_MS = 20;

  /** Characters that are written at once. */
  private static final int CHUNK_LENGTH = 64 << 10;

  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(1);
  private static final Duration CLOSE_TIME = Duration.ofSeconds(5);

  private final BlockingQueue<Entry> entries = new ArrayBlockingQueue<>(CAPACITY);
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
  public void add(Entry entry) {
    if (closed.getCount() == 0 || !entries.offer(entry)) {
      dropped.increment();
    }
  }

  /** The number of requests that have no line. */
  public long droppedCount() {
    return dropped.sum();
  }

  private void run() {
    List<Entry> batch = new ArrayList<>();
    boolean open = true;
    while (open) {
      open = gather(batch);
      entries.drainTo(batch);
      for (Entry entry : batch) {
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
  private boolean gather(List<Entry> batch) {
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

  /**
   * A request that was answered, or whose client went away.
   *
   * @param time when it began
   * @param client the client's address
   * @param protocol such as HTTP/1.1
   * @param method such as GET
   * @param path what was asked for
   * @param status what it was answered with, by the protocol's numbers
   * @param inputBytes bytes of its body, as they came
   * @param outputBytes bytes of the reply's body, as they were sent
   * @param durationUs from its first byte to the last of the reply, in microseconds
   * @param requestId what the client, or the server, calls it
   * @param model the model that it was for; empty: none
   * @param version the model's version; 0: none was named or chosen
   */
  public record Entry(
      Instant time,
      String client,
      String protocol,
      String method,
      String path,
      int status,
      long inputBytes,
      long outputBytes,
      long durationUs,
      String requestId,
      String model,
      long version) {

    /** Longest text of a client's that is kept: many entries may wait to be written. */
    private static final int MAX_LENGTH = 512;

    private static final String LOGGER = "io.nereid.access";

    /** Shortens what is too long. */
    public Entry {
      method = shortened(method);
      path = shortened(path);
      requestId = shortened(requestId);
      model = shortened(model);
    }

    private static String shortened(String text) {
      return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
    }

    /** Adds it as a line. */
    void append(StringBuilder lines, LogFormat format) {
      if (format == LogFormat.JSON) {
        appendJson(lines);
      } else {
        appendPlain(lines);
      }
      lines.append('\n');
    }

    private void appendJson(StringBuilder line) {
      LogLine.json(line, time, "INFO", LOGGER);
      member(line, "client", client);
      member(line, "protocol", protocol);
      member(line, "method", method);
      member(line, "path", path);
      line.append(",\"status\":").append(status);
      line.append(",\"bytes_in\":").append(inputBytes);
      line.append(",\"bytes_out\":").append(outputBytes);
      line.append(",\"duration_us\":").append(durationUs);
      member(line, "request_id", requestId);
      if (!model.isEmpty()) {
        member(line, "model", model);
        if (version > 0) {
          line.append(",\"version\":\"").append(version).append('"');
        }
      }
      line.append('}');
    }

    private static void member(StringBuilder line, String name, String value) {
      line.append(",\"").append(name).append("\":");
      LogLine.appendQuoted(line, value);
    }

    private void appendPlain(StringBuilder line) {
      LogLine.plain(line, time, "INFO");
      line.append(LOGGER).append(": ").append(client).append(' ');
      LogLine.appendQuoted(line, method + " " + path + " " + protocol);
      line.append(' ').append(status);
      line.append(" in=").append(inputBytes);
      line.append(" out=").append(outputBytes);
      line.append(" us=").append(durationUs);
      line.append(" id=");
      LogLine.appendQuoted(line, requestId);
      if (!model.isEmpty()) {
        line.append(" model=");
        LogLine.appendQuoted(line, model);
        if (version > 0) {
          line.append(" version=").append(version);
        }
      }
    }
  }
}
