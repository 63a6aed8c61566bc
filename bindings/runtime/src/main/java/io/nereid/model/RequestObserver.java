package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.statistics.Timings;
import io.nereid.types.StatusCode;

/**
 * Hears of requests that programs send, for instance to make spans from them. One observer is
 * installed for the whole process, and any number for each runtime ({@link
 * io.nereid.Nereid#observeRequests}); without them a request pays a look at two fields. No observer
 * hears of requests to a shadow ({@link io.nereid.Model#shadowOf}).
 */
@FunctionalInterface
public interface RequestObserver {

  /**
   * Called before a request is sent, by its thread, which waits for this call.
   *
   * @param request may be looked at until the observation has heard of its end
   * @return the observation that hears of the request's end; null: this request is of no interest
   */
  Observation begin(SentRequest request);

  /** One request that is under way. */
  @FunctionalInterface
  interface Observation {
    /** Called once when the request is answered, by any thread; the answer waits for this call. */
    void end(Outcome outcome);
  }

  /**
   * The end of a request.
   *
   * @param status the status of the answer
   * @param message the failure in words; empty: there is none
   * @param timings the times of its stages
   * @param batchSize rows of the batch that it was executed in; 0: it was not
   * @param inline whether it was executed on the thread that sent it
   * @param cacheHit whether the response cache answered it
   */
  record Outcome(
      StatusCode status,
      String message,
      Timings timings,
      int batchSize,
      boolean inline,
      boolean cacheHit) {}

  /**
   * Installs this observer in place of the one that was installed before. An exception of the
   * observer is logged, and changes the end of no request.
   */
  static void install(RequestObserver observer) {
    InstalledObserver.set(Checks.notNull(observer, "observer"));
  }

  /** Removes this observer, unless another one was installed since. */
  static void uninstall(RequestObserver observer) {
    InstalledObserver.clear(Checks.notNull(observer, "observer"));
  }

  /** The installed observer; null: there is none. */
  static RequestObserver installed() {
    return InstalledObserver.get();
  }
}
