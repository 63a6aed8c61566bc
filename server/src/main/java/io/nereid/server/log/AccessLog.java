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
 * Writes a line for each request. A separate thread writes, so that requests never wait for the
 * disk. If it cannot keep up, lines are dropped, and a line tells their number.
 */
public final class AccessLog implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(AccessLog.class.getName());

  /** The most waiting entries: usually some megabytes, for the longest entries some tens. */
  private static final int CAPACITY = 16 << 10;

  /**
   * The time that entries are gathered before they are written, so that not every request wakes the
   * thread.
   */
  private static final long GATHER_MS = 20;

  /** The most characters of one write. */
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

  // ---- Used by the thread alone ---------------------------------------------------------------

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

  /** An access log that goes to the log's output; the log must be closed after it. */
  public static AccessLog toLog(LogSettings log) {
    return new AccessLog(log, log.output(), false);
  }

  /** An access log that is appended to a file, in the log's form. */
  public static AccessLog toFile(Path file, LogSettings log) {
    return new AccessLog(log, LogOutput.file(file), true);
  }

  /** Queues an entry, or counts it as dropped. Returns at once; any thread may call. */
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

  /** Waits for an entry, and a little longer for more; false when the log is closing. */
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
      dropped.add(lineCount); // reported later
      LOGGER.log(Level.DEBUG, "the access log cannot be written", e);
    }
    lines.setLength(0);
    lineCount = 0;
  }

  /** Writes the number of dropped lines, at most once in a while. */
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

  /** Writes the waiting entries, for a few seconds at most. */
  @Override
  public void close() {
    close(CLOSE_TIME);
  }

  /** Does the same with another time. */
  void close(Duration most) {
    closed.countDown();
    thread.interrupt();
    try {
      thread.join(most);
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
   * @param path the requested path
   * @param status the status of the answer, by the protocol's numbers
   * @param inputBytes bytes of its body, as they came
   * @param outputBytes bytes of the reply's body, as they were sent
   * @param durationUs from its first byte to the last of the reply, in microseconds
   * @param requestId the client's or the server's id
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

    /** The longest text from a client that is kept, since many entries may wait. */
    private static final int MAX_LENGTH = 512;

    private static final String LOGGER = "io.nereid.access";

    /** Shortens texts that are too long. */
    public Entry {
      method = shortened(method);
      path = shortened(path);
      requestId = shortened(requestId);
      model = shortened(model);
    }

    private static String shortened(String text) {
      return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
    }

    /** Appends the entry as a line. */
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
