package io.nereid.client;

import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * When a call that failed is made again. Only calls that cannot do harm twice are: one of which the
 * server saw nothing because no connection came about, and one that only reads and that the server
 * turned away or did not answer ({@link StatusCode#UNAVAILABLE}). Inference counts as reading when
 * {@code retryInfer} says so. Requests of a sequence, of a stream, and calls of which a part of the
 * reply was there, are never repeated.
 *
 * <p>The pause before the second attempt is {@code initialBackoff}, doubled before each further
 * one, at most {@code maxBackoff}, and of that a random part from half to all of it, so that
 * clients do not come back all at once. A server's {@code Retry-After} lengthens it, to {@code
 * maxBackoff} at most. A call whose deadline would pass during the pause fails at once.
 *
 * @param maxAttempts how often a call is made at most; 1: never again
 * @param initialBackoff the first pause
 * @param maxBackoff the longest pause, a day at most
 * @param retryInfer whether inference may be repeated
 */
public record RetryPolicy(
    int maxAttempts, Duration initialBackoff, Duration maxBackoff, boolean retryInfer) {

  /** Longer is a mistake, and centuries do not even fit into nanoseconds. */
  private static final Duration LONGEST_BACKOFF = Duration.ofDays(1);

  /** Three attempts, pauses from 50 ms to 2 s, and inference is not repeated. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(3, Duration.ofMillis(50), Duration.ofSeconds(2), false);

  /** No second attempts. */
  public static final RetryPolicy NONE = new RetryPolicy(1, Duration.ZERO, Duration.ZERO, false);

  /** Checks the values. */
  public RetryPolicy {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("expected at least 1 attempt, got " + maxAttempts);
    }
    if (initialBackoff.isNegative() || maxBackoff.compareTo(initialBackoff) < 0) {
      throw new IllegalArgumentException(
          "expected 0 <= initialBackoff <= maxBackoff, got %s and %s"
              .formatted(initialBackoff, maxBackoff));
    }
    if (maxBackoff.compareTo(LONGEST_BACKOFF) > 0) {
      throw new IllegalArgumentException("expected maxBackoff of a day at most, got " + maxBackoff);
    }
  }

  /** The same, with inference repeated or not. */
  public RetryPolicy retryInfer(boolean retry) {
    return new RetryPolicy(maxAttempts, initialBackoff, maxBackoff, retry);
  }

  /**
   * The pause after a number of attempts, of which the last failed; below 0: there is none more.
   */
  long pauseNs(int attempts, InferenceException failure, CallKind kind, RandomGenerator random) {
    if (attempts >= maxAttempts || !mayRepeat(failure, kind)) {
      return -1;
    }
    long mostNs = maxBackoff.toNanos();
    int doublings = Math.min(attempts - 1, 30);
    long fullNs = (long) Math.min(mostNs, initialBackoff.toNanos() * Math.scalb(1.0, doublings));
    long askedNs = Math.min(mostNs, failure.retryAfterNs());
    return Math.max(askedNs, fullNs / 2) + random.nextLong(fullNs / 2 + 1);
  }

  private boolean mayRepeat(InferenceException failure, CallKind kind) {
    return switch (kind) {
      case SEQUENCE -> false;
      case CHANGE -> failure.neverSent();
      case INFER -> failure.neverSent() || retryInfer && failure.worthRetrying();
      case READ -> failure.neverSent() || failure.worthRetrying();
    };
  }

  /** Says what making a call twice could do. */
  enum CallKind {
    /** Nothing: it only asks. */
    READ,
    /** Work done twice. */
    INFER,
    /** The state of a sequence would be wrong. */
    SEQUENCE,
    /** Something of the server would be changed twice. */
    CHANGE
  }
}
