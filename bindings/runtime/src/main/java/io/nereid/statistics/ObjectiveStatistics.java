package io.nereid.statistics;

import java.time.Duration;
import java.util.List;

/**
 * The limits that an objective sets for one loaded version of a model now, and the results since
 * the model was loaded. Requests that failed for another reason, or that the response cache
 * answered, are not counted.
 *
 * @param percentile the percentage of answers that are to be in time
 * @param latency the time limit, from sending a request
 * @param maxRows most rows that are executed at once, so that the execution fits into the objective
 * @param maxWait the longest that a request would wait for others now
 * @param backlog requests that wait now
 * @param backlogTime the time to execute all requests that wait or execute now
 * @param rowsPerSecond the rows that can be answered in time, as far as is known; 0: unknown
 * @param kept requests that were answered in time
 * @param late requests that were answered too late
 * @param refusedBacklog requests that were refused at once, because of those before them
 * @param refusedCost requests that were refused at once, because even alone they take too long
 * @param refusedWaiting requests that were refused while they waited
 * @param refusedDeadline of all refused requests, those whose own deadline was the reason
 * @param outside the time kept free for the requests' time outside the model, as frontends report
 *     it
 * @param costs the learned costs of executions
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
   * @param rowElements the approximate elements of a row in all inputs; 0: inputs have one size
   * @param meanNs the average time of one, in nanoseconds
   * @param highNs the time that about one in a hundred exceeds
   * @param weight the number of executions behind it, weighting old ones less
   */
  public record Cost(
      int kind, long rows, long rowElements, double meanNs, double highNs, double weight) {}
}
