package io.nereid.statistics;

import java.time.Duration;
import java.util.List;

/**
 * The limits that an objective sets for one loaded version of a model now, and the results since
 * the model was loaded. Requests that failed for another reason, or that the response cache
 * answered, are not counted.
 *
 * @param percentile how many in a hundred of the answers are to be in time
 * @param latency what in time means, from when a request was sent
 * @param maxRows most rows that are executed at once, so that the execution fits into the objective
 * @param maxWait the longest that a request would wait for others now
 * @param backlog requests that wait now
 * @param backlogTime how long it takes to execute what waits and executes now
 * @param rowsPerSecond what can be answered in time, as far as is known; 0: nothing is known
 * @param kept requests that were answered in time
 * @param late requests that were answered too late
 * @param refusedBacklog requests that were refused at once, because of those before them
 * @param refusedCost requests that were refused at once, because even alone they take too long
 * @param refusedWaiting requests that were refused while they waited
 * @param refusedDeadline of all refused requests, those whose own deadline was the reason
 * @param outside what is kept free for what requests spend outside the model, as far as frontends
 *     tell of it
 * @param costs what executions take, as far as it was learned
 */
public record ObjectiveStatistics(
    double percentile,
    Duration latency,
    long maxRows,
    Duration maxWait,
    long backlog,
    Duration backlogTime,
    long rowsPerSecond,
    long kept,
    long late,
    long refusedBacklog,
    long refusedCost,
    long refusedWaiting,
    long refusedDeadline,
    Duration outside,
    List<Cost> costs) {

  /** Copies the list. */
  public ObjectiveStatistics {
    costs = List.copyOf(costs);
  }

  /** All requests that were refused because of the objective. */
  public long refused() {
    return refusedBacklog + refusedCost + refusedWaiting;
  }

  /**
   * The time that executions of so many rows take.
   *
   * @param kind of the instances: the number of their GPU and one more, 0 for the processor
   * @param rows of the batch
   * @param rowElements of all inputs of a row, about; 0: inputs have one size
   * @param meanNs the average time of one, in nanoseconds
   * @param highNs the time that one of a hundred exceeds, about
   * @param weight how many executions it comes from, where old ones count less
   */
  public record Cost(
      int kind, long rows, long rowElements, double meanNs, double highNs, double weight) {}
}
