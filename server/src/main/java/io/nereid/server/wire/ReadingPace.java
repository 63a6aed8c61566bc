package io.nereid.server.wire;

import java.util.function.LongSupplier;

/**
 * How often a connection or a round reads. Whoever reads notes it; any thread may ask whether that
 * is still so.
 */
final class ReadingPace {

  /** Reads after which it is looked how long they took. */
  private static final int READS = 64;

  /** A connection is busy that took no longer for them. */
  private static final long BUSY_NS = 250_000_000;

  /** It is so until it takes longer than that. */
  private static final long REST_NS = 4 * BUSY_NS;

  private final BusyReaders readers;
  private final LongSupplier clockNs;
  private int count;
  private boolean wantsThread;
  private volatile long sinceNs;
  private volatile boolean isBusy;

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
    isBusy = false;
    wantsThread = false;
  }

  private void begin(long nowNs) {
    count = 0;
    sinceNs = nowNs;
  }

  /** Notes reads. */
  void read(int more) {
    count += more;
    if (count >= READS) {
      long nowNs = clockNs.getAsLong();
      isBusy = nowNs - sinceNs <= (isBusy ? REST_NS : BUSY_NS);
      begin(nowNs);
      wantsThread = isBusy && readers.areFew(this, nowNs);
    }
  }

  /** Whether a thread of the platform is worth it, for whoever notes reads. */
  boolean wantsThread() {
    return wantsThread;
  }

  /** Whether as much is read still. */
  boolean isBusy(long nowNs) {
    return isBusy && nowNs - sinceNs <= REST_NS;
  }
}
