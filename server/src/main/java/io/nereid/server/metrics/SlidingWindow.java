package io.nereid.server.metrics;

import io.nereid.statistics.Histogram;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * The growth of a growing histogram in the last minute; in the first minute, since its begin. For
 * one thread at a time.
 */
public final class SlidingWindow {

  static final long LENGTH_NS = TimeUnit.MINUTES.toNanos(1);

  /** The time by which the window moves. */
  static final long STEP_NS = LENGTH_NS / 5;

  private record Look(long takenNs, Histogram seen) {}

  /** The first look is the newest one older than the window, or the only one. */
  private final ArrayDeque<Look> looks = new ArrayDeque<>();

  /** Takes the histogram's present state; returns its growth within the window. */
  public Histogram look(Histogram now, long nowNs) {
    if (!looks.isEmpty() && now.since(looks.getLast().seen) == now) {
      looks.clear(); // the histogram was begun anew
    }
    Look left = null;
    while (!looks.isEmpty() && nowNs - looks.getFirst().takenNs >= LENGTH_NS) {
      left = looks.removeFirst();
    }
    if (left != null) {
      looks.addFirst(left);
    }
    Histogram recent = left == null ? now : now.since(left.seen);
    if (looks.isEmpty() || nowNs - looks.getLast().takenNs >= STEP_NS) {
      looks.addLast(new Look(nowNs, now));
    }
    return recent;
  }
}
