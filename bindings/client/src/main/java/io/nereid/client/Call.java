package io.nereid.client;

import io.nereid.types.StatusCode;
import io.nereid.types.TaskThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Makes one call of {@link InferenceClient}, from its first attempt until its result, its deadline
 * or its cancellation. The caller's thread begins it; the transport's threads go on with it, and a
 * thread of this class after a pause.
 */
final class Call<T> {

  /**
   * The executor of the stages that users attach to futures, so that these never block a
   * transport's thread.
   */
  private static final Executor EXECUTOR = TaskThreads.executor("nrd-client");

  private final Starter<T> starter;
  private final RetryPolicy policy;
  private final RetryPolicy.CallKind kind;
  private final Limit limit;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private volatile Attempt<T> current;
  private int attempts;

  /** Begins an attempt; it is called once for each. */
  interface Starter<T> {
    Attempt<T> start(Limit limit);
  }

  private Call(Starter<T> starter, RetryPolicy policy, RetryPolicy.CallKind kind, Limit limit) {
    this.starter = starter;
    this.policy = policy;
    this.kind = kind;
    this.limit = limit;
  }

  /** Makes the call and waits for its result. */
  static <T> T run(Starter<T> starter, RetryPolicy policy, RetryPolicy.CallKind kind, Limit limit) {
    Call<T> call = new Call<>(starter, policy, kind, limit);
    call.attempt();
    return call.await();
  }

  /** Begins the call; cancelling the future cancels it at the server too. */
  static <T> CompletableFuture<T> start(
      Starter<T> starter, RetryPolicy policy, RetryPolicy.CallKind kind, Limit limit) {
    Call<T> call = new Call<>(starter, policy, kind, limit);
    CompletableFuture<T> handedOut = new CompletableFuture<>();
    if (limit.isSet()) {
      call.result.orTimeout(Math.max(0, limit.remainingNs()), TimeUnit.NANOSECONDS);
    }
    call.result.whenCompleteAsync(
        (value, failure) -> call.handOver(value, failure, handedOut), EXECUTOR);
    handedOut.whenComplete((value, failure) -> {
      if (handedOut.isCancelled()) {
        call.abandon();
      }
    });
    call.attempt();
    return handedOut;
  }

  private void handOver(T value, Throwable failure, CompletableFuture<T> to) {
    if (failure == null) {
      if (!to.complete(value)) {
        discard(value);
      }
      return;
    }
    if (failure instanceof TimeoutException) {
      abandon();
      to.completeExceptionally(tooLate());
      return;
    }
    to.completeExceptionally(failure);
  }

  private void attempt() {
    if (result.isDone()) {
      return;
    }
    attempts++;
    Attempt<T> attempt;
    try {
      attempt = starter.start(limit);
      // an attempt after a pause has no caller that could catch it
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(describe(e));
      return;
    }
    current = attempt;
    attempt.future().whenComplete(this::finish);
    if (result.isDone()) {
      attempt.cancel().run(); // cancelled while it began
    }
  }

  private void finish(T value, Throwable failure) {
    if (failure == null) {
      if (!result.complete(value)) {
        discard(value);
      }
      return;
    }
    InferenceException described = describe(failure);
    long pauseNs = policy.pauseNs(attempts, described, kind, ThreadLocalRandom.current());
    if (pauseNs < 0 || pauseNs >= limit.remainingNs()) {
      result.completeExceptionally(described);
    } else {
      CompletableFuture.delayedExecutor(pauseNs, TimeUnit.NANOSECONDS, EXECUTOR)
          .execute(this::attempt);
    }
  }

  private T await() {
    try {
      return limit.isSet()
          ? result.get(Math.max(0, limit.remainingNs()), TimeUnit.NANOSECONDS)
          : result.get();
    } catch (ExecutionException e) {
      // The exception has the caller's stack, and the transport's as its cause.
      throw describe(e.getCause()).rethrown();
    } catch (TimeoutException e) {
      abandon();
      throw tooLate();
    } catch (InterruptedException e) {
      abandon();
      Thread.currentThread().interrupt();
      throw new InferenceException(
          StatusCode.CANCELLED, "the thread was interrupted while it waited for the server", e);
    }
  }

  /** Cancels the attempt under way; a value that still comes is closed. */
  private void abandon() {
    result.cancel(false);
    if (result.isDone() && !result.isCompletedExceptionally()) {
      discard(result.join());
    }
    Attempt<T> attempt = current;
    if (attempt != null) {
      attempt.cancel().run();
    }
  }

  private static void discard(Object value) {
    if (value instanceof InferResponse response) {
      response.close();
    }
  }

  private static InferenceException tooLate() {
    return new InferenceException(StatusCode.DEADLINE_EXCEEDED, "the call's deadline passed");
  }

  static InferenceException describe(Throwable failure) {
    if (failure instanceof InferenceException known) {
      return known;
    }
    if (failure instanceof CompletionException && failure.getCause() != null) {
      return describe(failure.getCause());
    }
    if (failure instanceof CancellationException) {
      return new InferenceException(StatusCode.CANCELLED, "the call was cancelled", failure);
    }
    return new InferenceException(
        StatusCode.UNKNOWN, "the call failed in the client: " + failure, failure);
  }

  /**
   * A request that is under way.
   *
   * @param future completed by the transport's own threads, so dependent code must be short.
   *     Failures are {@link InferenceException}s.
   * @param cancel ends it; does nothing when it has ended
   */
  record Attempt<T>(CompletableFuture<T> future, Runnable cancel) {}

  /** The time until which a call may take, attempts and pauses included. */
  static final class Limit {

    static final Limit NONE = new Limit(false, 0);

    private final boolean set;
    private final long deadlineNs; // of System.nanoTime

    private Limit(boolean set, long deadlineNs) {
      this.set = set;
      this.deadlineNs = deadlineNs;
    }

    /** A limit from now on; empty: none. */
    static Limit in(Optional<Duration> duration) {
      return duration
          .map(length -> new Limit(true, System.nanoTime() + nanos(length)))
          .orElse(NONE);
    }

    /** Nanoseconds of at most a hundred years, beyond which they overflow. */
    private static long nanos(Duration duration) {
      return duration.compareTo(Duration.ofDays(36_500)) > 0
          ? Duration.ofDays(36_500).toNanos()
          : duration.toNanos();
    }

    boolean isSet() {
      return set;
    }

    /** Returns the time that is left, which may be below 0; without a limit it is centuries. */
    long remainingNs() {
      return set ? deadlineNs - System.nanoTime() : Long.MAX_VALUE;
    }
  }
}
