package io.nereid.recording;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.Deflater;

/**
 * Writes the messages of a ring into segments, on a thread of its own: looks for contents that the
 * segment has already, deflates where that helps and there is time, and deletes what is too old or
 * too much. When the disk fails, requests are dropped and counted until it works again.
 */
final class RecordingWriter implements Runnable {

  private static final Logger LOGGER = System.getLogger("io.nereid.recording");

  /** Waking up costs more than writing a few requests. */
  private static final long SLEEP_NS = 8_000_000;

  private static final long RETRY_NS = 1_000_000_000;
  private static final long RETENTION_NS = 60_000_000_000L;

  /** Less is not worth the time. */
  private static final int LEAST_DEFLATED = 1 << 12;

  private static final DateTimeFormatter NAME_TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);

  final LongAdder dropped = new LongAdder(); // also by who found the ring full
  final LongAdder recorded = new LongAdder();
  final LongAdder writtenBytes = new LongAdder();
  final LongAdder savedBytes = new LongAdder();

  private final RecordingOptions options;
  private final MessageRing ring;
  private final Instant start;
  private final long startNs;
  private final long id = new SecureRandom().nextLong();
  private final ContentTable contents = new ContentTable();
  private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
  private final ByteBuffer small = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
  private byte[] deflated = new byte[LEAST_DEFLATED];

  private RecordingFile segment; // null: the disk failed
  private int segmentCount;
  private long droppedTold;
  private long retryNs;
  private long retentionNs;
  private volatile boolean stopping;

  /** Makes the first segment; {@code startNs} is now, by {@link System#nanoTime}. */
  RecordingWriter(RecordingOptions options, MessageRing ring, long startNs) throws IOException {
    this.options = options;
    this.ring = ring;
    this.startNs = startNs;
    start = Instant.now();
    open();
  }

  /** Writes what is in the ring by now, and ends the thread that runs this. */
  void stop(Thread running) {
    stopping = true;
    LockSupport.unpark(running);
  }

  @Override
  public void run() {
    while (true) {
      boolean last = stopping; // before the last look
      drain();
      if (last) {
        end();
        return;
      }
      LockSupport.parkNanos(SLEEP_NS);
    }
  }

  private void drain() {
    for (MemorySegment message = ring.peek(); message != null; message = ring.peek()) {
      try {
        reopen();
        write(message);
      } catch (Throwable e) { // the thread goes on whatever happens
        dropped.increment();
        failed(e);
      }
      ring.release();
    }
    if (segment != null) {
      try {
        tellDropped();
        segment.flush();
        retain();
      } catch (Throwable e) {
        failed(e);
      }
    }
  }

  private void end() {
    try (RecordingFile closing = segment) {
      if (closing != null) {
        small.clear().put(Format.END).putLong(System.nanoTime() - startNs).flip();
        closing.append(small, ByteBuffer.allocate(0));
      }
    } catch (IOException e) {
      failed(e);
    }
    deflater.end();
  }

  // ---- Segments --------------------------------------------------------------------------------

  private void open() throws IOException {
    String name =
        "%s%s-%08x-%06d%s"
            .formatted(
                Format.PREFIX, NAME_TIME.format(start), (int) id, segmentCount + 1, Format.SUFFIX);
    long epochNs = Math.addExact(start.getEpochSecond() * 1_000_000_000, start.getNano());
    Path path = options.directory().resolve(name);
    segment = RecordingFile.create(path, epochNs, id, ++segmentCount, recorded, dropped);
    contents.clear();
    retentionNs = System.nanoTime();
    retain();
  }

  private void reopen() throws IOException {
    if (segment == null) {
      if (System.nanoTime() - retryNs < 0) {
        throw new IOException("the disk failed before");
      }
      open();
    } else if (segment.byteSize() >= options.segmentBytes() || contents.isFull()) {
      RecordingFile full = segment;
      segment = null;
      full.close();
      open();
    }
  }

  /** Says so once for each time that the disk fails. */
  private void failed(Throwable why) {
    if (segment == null && System.nanoTime() - retryNs < 0) {
      return;
    }
    LOGGER.log(Level.WARNING, "requests are not recorded: " + options.directory(), why);
    retryNs = System.nanoTime() + RETRY_NS;
    RecordingFile closing = segment;
    segment = null;
    if (closing != null) {
      try {
        closing.close();
      } catch (IOException e) {
        return; // it has been said
      }
    }
  }

  private void retain() throws IOException {
    long now = System.nanoTime();
    if (now - retentionNs >= 0) {
      retentionNs = now + RETENTION_NS;
      Retention.apply(
          options.directory(),
          segment.path(),
          options.maxBytes() - options.segmentBytes(),
          options.maxAge());
    }
  }

  // ---- Records ---------------------------------------------------------------------------------

  private void write(MemorySegment message) throws IOException {
    long before = segment.byteSize();
    segment.append(TensorHead.numbered(message, this::content));
    writtenBytes.add(segment.byteSize() - before);
  }

  /** Returns the number of a content, which is written unless the segment has it. */
  private int content(MemorySegment content) throws IOException {
    int next = contents.size();
    int number = contents.number(content);
    if (number < next) {
      savedBytes.add(content.byteSize());
      return number;
    }
    int shorter = deflate(content);
    small.clear();
    small.put(Format.CONTENT).put(shorter > 0 ? Format.DEFLATED : Format.RAW);
    small.putInt(number).putLong(content.byteSize()).flip();
    segment.append(
        small, shorter > 0 ? ByteBuffer.wrap(deflated, 0, shorter) : content.asByteBuffer());
    return number;
  }

  /** Returns the size of the deflated content; 0: it stays as it is. */
  private int deflate(MemorySegment content) {
    long most = content.byteSize() / 8 * 7;
    if (content.byteSize() < LEAST_DEFLATED || most > Integer.MAX_VALUE || ring.isBusy()) {
      return 0;
    }
    if (deflated.length < most) {
      deflated = new byte[(int) most];
    }
    deflater.reset();
    deflater.setInput(content.asByteBuffer());
    deflater.finish();
    int size = deflater.deflate(deflated, 0, (int) most);
    return deflater.finished() ? size : 0;
  }

  private void tellDropped() throws IOException {
    long now = dropped.sum();
    if (now != droppedTold) {
      small.clear().put(Format.DROPPED).putLong(System.nanoTime() - startNs).putLong(now).flip();
      segment.append(small, ByteBuffer.allocate(0));
      droppedTold = now;
    }
  }
}
