package io.nereid.server.grpc;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the amount of a resource that all connections hold together. A connection may have a
 * quarter of it, and always a little, so that no client can shut out another. Event loops call it.
 */
final class SharedLimit {

  private static final int PARTS = 4;

  private final long most;
  private final long little;
  private final AtomicLong taken = new AtomicLong();

  /** {@code little} is the amount that each connection may always hold. */
  SharedLimit(long most, long little) {
    this.most = most;
    this.little = little;
  }

  /** The most that one connection may hold. */
  long mostOfOne() {
    return Math.max(little, most / PARTS);
  }

  /** True if connections hold more than half, so that others may soon have too little. */
  boolean isScarce() {
    return taken.get() > most / 2;
  }

  /** Makes the share of a new connection. */
  Share share() {
    return new Share();
  }

  /** The part that one connection holds. Its event loop is the only thread that calls it. */
  final class Share {
    private long held;

    /**
     * Takes an amount; false if too little is left. A single one may exceed a connection's part.
     */
    boolean take(long count) {
      if (held > 0 && held + count > mostOfOne()) {
        return false;
      }
      if (taken.addAndGet(count) > most && held + count > little) {
        taken.addAndGet(-count);
        return false;
      }
      held += count;
      return true;
    }

    void giveBack(long count) {
      held -= count;
      taken.addAndGet(-count);
    }
  }
}
