package io.nereid.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * How long the parts of a start took, in the order in which they ended.
 *
 * @param parts one after the other
 */
public record StartTimes(List<Part> parts) {

  /**
   * A part of a start.
   *
   * @param name as people read it
   * @param time how long it took
   */
  public record Part(String name, Duration time) {}

  /** Checks that nothing changes afterwards. */
  public StartTimes {
    parts = List.copyOf(parts);
  }

  /** Collects them. */
  static final class Clock {
    private final List<Part> parts = new ArrayList<>();

    <T> T measure(String name, Supplier<T> part) {
      long startNs = System.nanoTime();
      T result = part.get();
      parts.add(new Part(name, Duration.ofNanos(System.nanoTime() - startNs)));
      return result;
    }

    void measure(String name, Runnable part) {
      measure(
          name,
          () -> {
            part.run();
            return null;
          });
    }

    StartTimes times() {
      return new StartTimes(parts);
    }
  }
}
