package io.nereid.server.metrics;

import io.nereid.statistics.Histogram;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * The growth in the last minute of a histogram that only grows, as far as it was looked at: before
 * that is known, since its begin. Not for several threads at once.
 */
public final class SlidingWindow {

  static final long LENGTH_NS = TimeUnit.MINUTES.toNanos(1);

  /** The time by which the window moves. */
  static final long STEP_NS = LENGTH_NS / 5;

  private record Look(long takenNs, Histogram seen) {}

  /** The first is the newest that the window has left behind, or the only one there is. */
  private final ArrayDeque<Look> looks = new ArrayDeque<>();

  /** Takes what the histogram holds by now; what it got in the window. */
  public Histogram look(Histogram now, long nowNs) {
    if (!looks.isEmpty() && now.since(looks.getLast().seen) == now) {
      looks.clear(); // it was begun anew
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
