package io.nereid.server.wire;

import java.util.function.LongSupplier;

/**
 * How often a connection or a round reads. Whoever reads notes it; any thread may ask whether that
 * is still so.
 */
final class ReadingPace {

  /** The share of whoever wants a processor of its own. */
  static final int WHOLE = 4;

  /** Reads after which it is looked how long they took. */
  private static final int READS = 64;

  /** A connection is busy that took no longer for them. */
  private static final long BUSY_NS = 250_000_000;

  /** It is so until it takes longer than that. */
  private static final long REST_NS = 4 * BUSY_NS;

  /** Pieces of so many bytes, on average, are large. */
  private static final int LARGE_BYTES = 16 << 10;

  /** A read of more bytes is taken for several. */
  private static final int MOST_BYTES = 64 << 10;

  private final BusyReaders readers;
  private final LongSupplier clockNs;
  private int reads;
  private long bytes;
  private boolean wantsThread;
  private volatile long sinceNs;
  private volatile int share; // 0: it is not busy

  ReadingPace(BusyReaders readers) {
    this(readers, System::nanoTime);
  }

  /** The same by another clock. */
  ReadingPace(BusyReaders readers, LongSupplier clockNs) {
    this.readers = readers;
    this.clockNs = clockNs;
    restart();
  }

  /** What was read until now does not count. */
  void restart() {
    begin(clockNs.getAsLong());
    share = 0;
    wantsThread = false;
  }

  private void begin(long nowNs) {
    reads = 0;
    bytes = 0;
    sinceNs = nowNs;
  }

  /** Notes a read of so many bytes. */
  void read(long count) {
    reads += (int) Math.max(1, count / MOST_BYTES);
    bytes += count;
    if (reads >= READS) {
      long nowNs = clockNs.getAsLong();
      boolean isBusy = nowNs - sinceNs <= (share > 0 ? REST_NS : BUSY_NS);
      share = !isBusy ? 0 : bytes / reads < LARGE_BYTES ? WHOLE : 1;
      begin(nowNs);
      wantsThread = isBusy && readers.areFew(this, nowNs);
    }
  }

  /** Whether a thread of the platform is worth it, for whoever notes reads. */
  boolean wantsThread() {
    return wantsThread;
  }

  /**
   * How much of a processor it wants, of {@link #WHOLE}; 0: it is not busy. Large pieces are waited
   * for; whoever reads small ones is at work in between.
   */
  int share(long nowNs) {
    return nowNs - sinceNs <= REST_NS ? share : 0;
  }
}
