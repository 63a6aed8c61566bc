package io.nereid.server.wire;

/** How often a connection or a round reads, by whoever does. Any thread may ask if it rests. */
final class ReadingPace {

  /** Reads after which it is looked how long they took. */
  private static final int READS = 256;

  /** A connection is busy that took no longer for them, and is so until it takes much longer. */
  private static final long BUSY_NS = 50_000_000;

  private static final long REST_NS = 20 * BUSY_NS;

  private int count;
  private volatile long sinceNs = System.nanoTime();
  private boolean isBusy;

  /** Notes one; whether the connection is busy. */
  boolean read() {
    if (++count == READS) {
      long nowNs = System.nanoTime();
      isBusy = nowNs - sinceNs <= (isBusy ? REST_NS : BUSY_NS);
      count = 0;
      sinceNs = nowNs;
    }
    return isBusy;
  }

  /** Whether a connection that was busy has read too little since to be so for much longer. */
  boolean isResting(long nowNs) {
    return nowNs - sinceNs > REST_NS;
  }
}
