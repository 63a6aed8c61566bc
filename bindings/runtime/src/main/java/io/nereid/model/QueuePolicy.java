package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.StatusCode;
import java.time.Duration;

/**
 * The limits on the time that requests wait for their turn, and on their number.
 *
 * @param timeoutAction what happens to a request that waited too long
 * @param defaultTimeout longest wait of a request that sets none itself; zero: no limit
 * @param allowTimeoutOverride whether {@code timeoutAction} also decides what happens when a
 *     request's own timeout is up; otherwise that is an error. A request's timeout can shorten the
 *     default one, never lengthen it
 * @param maxQueueSize how many requests may wait; 0: the core's default (8192)
 */
public record QueuePolicy(
    TimeoutAction timeoutAction,
    Duration defaultTimeout,
    boolean allowTimeoutOverride,
    int maxQueueSize) {

  /** Rejects late requests, sets no timeout, and leaves the queue's size to the core. */
  public static final QueuePolicy DEFAULT =
      new QueuePolicy(TimeoutAction.REJECT, Duration.ZERO, false, 0);

  /** The treatment of a request whose time in the queue is up. */
  public enum TimeoutAction {
    /** The request is answered with {@link StatusCode#UNAVAILABLE}. */
    REJECT,
    /** The request lets all others pass and runs when none is left. */
    DELAY
  }

  /** Checks the values. */
  public QueuePolicy {
    Checks.notNull(timeoutAction, "timeoutAction");
    Checks.notNegative(defaultTimeout, "defaultTimeout");
    Checks.notNegative(maxQueueSize, "maxQueueSize");
  }

  /** This policy with another action. */
  public QueuePolicy withTimeoutAction(TimeoutAction action) {
    return new QueuePolicy(action, defaultTimeout, allowTimeoutOverride, maxQueueSize);
  }

  /** This policy with another default timeout. */
  public QueuePolicy withDefaultTimeout(Duration timeout) {
    return new QueuePolicy(timeoutAction, timeout, allowTimeoutOverride, maxQueueSize);
  }

  /** This policy with another rule for requests' own timeouts. */
  public QueuePolicy withAllowTimeoutOverride(boolean allow) {
    return new QueuePolicy(timeoutAction, defaultTimeout, allow, maxQueueSize);
  }

  /** This policy with another bound on the queue. */
  public QueuePolicy withMaxQueueSize(int size) {
    return new QueuePolicy(timeoutAction, defaultTimeout, allowTimeoutOverride, size);
  }
}
