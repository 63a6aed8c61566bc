package io.nereid.server.grpc;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Most that all connections together may hold of something. A connection may have a quarter of it,
 * and always a little, however much the others hold: no client can shut out another one. Event
 * loops take from it.
 */
final class SharedLimit {

  private static final int PARTS = 4;

  private final long most;
  private final long little;
  private final AtomicLong taken = new AtomicLong();

  /** {@code little} is what each connection may hold in any case. */
  SharedLimit(long most, long little) {
    this.most = most;
    this.little = little;
  }

  /** Most that one connection may hold. */
  long mostOfOne() {
    return Math.max(little, most / PARTS);
  }

  /** True if connections hold more than half, so that others may soon have too little. */
  boolean isScarce() {
    return taken.get() > most / 2;
  }

  /** The part of a connection that has just come. */
  Share share() {
    return new Share();
  }

  /** The part that one connection holds. Its event loop is the only thread that calls it. */
  final class Share {
    private long held;

    /** False if there is not as much left. One alone may be larger than a connection's part. */
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
