package io.nereid.client;

import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Decides when a failed call is repeated. Only harmless calls are: one that never reached the
 * server for lack of a connection, and one that only reads and that the server refused or did not
 * answer ({@link StatusCode#UNAVAILABLE}). Inference counts as reading when {@code retryInfer} says
 * so. Requests of a sequence or a stream, and calls with part of a reply, are never repeated.
 *
 * <p>The pause before the second attempt is {@code initialBackoff}, doubled before each further
 * one, at most {@code maxBackoff}, and of that a random part from half to all of it, so that
 * clients do not come back all at once. A server's {@code Retry-After} lengthens it, to {@code
 * maxBackoff} at most. A call whose deadline would pass during the pause fails at once.
 *
 * @param maxAttempts the most attempts for a call; 1: no repetition
 * @param initialBackoff the first pause
 * @param maxBackoff the longest pause, a day at most
 * @param retryInfer whether inference may be repeated
 */
public record RetryPolicy(
    int maxAttempts, Duration initialBackoff, Duration maxBackoff, boolean retryInfer) {

  /** The longest pause that is allowed; longer ones are mistakes, and could overflow. */
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

  /** Returns a copy with inference repeated or not. */
  public RetryPolicy retryInfer(boolean retry) {
    return new RetryPolicy(maxAttempts, initialBackoff, maxBackoff, retry);
  }

  /**
   * The pause after a number of attempts, of which the last failed; below 0: no further attempt.
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

  /** The possible harm of making a call twice. */
  enum CallKind {
    /** No harm: the call only reads. */
    READ,
    /** Work would be done twice. */
    INFER,
    /** The state of a sequence would be wrong. */
    SEQUENCE,
    /** The server would be changed twice. */
    CHANGE
  }
}
