package io.nereid.server.trace;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Picks the requests that are traced, for one set of settings; other settings get another sampler.
 * Any thread may call.
 */
final class TraceSampler {

  private final TraceSettings settings;
  private final AtomicLong seen = new AtomicLong();

  /** Traces still to be taken; negative: no end. */
  private final AtomicLong left;

  /**
   * The numbered file that is being filled, and its number of traces; only the trace thread uses
   * them.
   */
  long fileIndex = -1;

  long fileTraces;

  TraceSampler(TraceSettings settings) {
    this.settings = settings;
    left = new AtomicLong(settings.count());
  }

  /** The settings, with the present count. */
  TraceSettings settings() {
    return new TraceSettings(
        settings.levels(), settings.rate(), Math.max(-1, left.get()), settings.logFrequency());
  }

  boolean isOn() {
    return settings.isOn();
  }

  /** True if this level is recorded. */
  boolean records(TraceLevel level) {
    return settings.levels().contains(level);
  }

  long logFrequency() {
    return settings.logFrequency();
  }

  /**
   * True if the next request is traced; {@code forced}: its client asks for it, regardless of the
   * rate.
   */
  boolean sample(boolean forced) {
    if (settings.rate() == 0 || left.get() == 0) {
      return forced;
    }
    return (seen.incrementAndGet() % settings.rate() == 0 && take()) || forced;
  }

  private boolean take() {
    for (long now = left.get(); now != 0; now = left.get()) {
      if (now < 0 || left.compareAndSet(now, now - 1)) {
        return true;
      }
    }
    return false;
  }
}
