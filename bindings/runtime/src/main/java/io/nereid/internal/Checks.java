package io.nereid.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Argument checks whose messages name the argument; deadlines, and waiting for other threads. */
public final class Checks {

  private Checks() {}

  public static <T> T notNull(T value, String name) {
    if (value == null) {
      throw new NullPointerException(name + " must not be null");
    }
    return value;
  }

  public static void notBlank(String value, String name) {
    if (notNull(value, name).isBlank()) {
      throw new IllegalArgumentException("a model's " + name + " must not be blank");
    }
  }

  public static void notNegative(long value, String name) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must not be negative, got " + value);
    }
  }

  public static Duration notNegative(Duration value, String name) {
    if (notNull(value, name).isNegative()) {
      throw new IllegalArgumentException(name + " must not be negative, got " + value);
    }
    return value;
  }

  public static void positive(long value, String name) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be positive, got " + value);
    }
  }

  /** Nanoseconds of a duration; the largest long for durations beyond 292 years. */
  public static long nanos(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException e) {
      return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }

  /** The moment {@code duration} from now on the monotonic clock, never 0, which means none. */
  public static long deadlineNs(Duration duration) {
    long now = System.nanoTime();
    long nanos = nanos(duration);
    if (now > 0 && nanos > Long.MAX_VALUE - now) {
      return Long.MAX_VALUE;
    }
    long deadline = now + nanos;
    return deadline == 0 ? 1 : deadline;
  }

  /** Waits for work on another thread, and throws what it threw. */
  public static <T> T join(CompletableFuture<T> work) {
    try {
      return work.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause;
        case null, default -> throw e;
      }
    }
  }
}
