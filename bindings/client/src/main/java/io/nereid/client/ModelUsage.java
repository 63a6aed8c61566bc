package io.nereid.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The work of a version of a model since it was loaded. Figures that a server does not report are
 * zero.
 *
 * @param name the model's name
 * @param version its version
 * @param lastInference the time of the last request
 * @param inferenceCount rows that were executed (requests, for models without a batch dimension)
 * @param executionCount batches that were executed
 * @param success requests that succeeded
 * @param fail requests that failed
 * @param queue time in the queue
 * @param computeInput gathering inputs
 * @param computeInfer running the model
 * @param computeOutput handing out outputs
 * @param cacheHit requests answered from the response cache
 * @param cacheMiss requests that the response cache did not know
 * @param batches per batch size
 * @param extensions additional members of the statistics, such as Nereid's {@code objective}, as in
 *     JSON; empty over gRPC
 */
public record ModelUsage(
    String name,
    String version,
    Optional<Instant> lastInference,
    long inferenceCount,
    long executionCount,
    Times success,
    Times fail,
    Times queue,
    Times computeInput,
    Times computeInfer,
    Times computeOutput,
    Times cacheHit,
    Times cacheMiss,
    List<Batches> batches,
    Map<String, Object> extensions) {

  /**
   * A count of events, and their total time.
   *
   * @param count the number of events
   * @param totalNs their total time
   */
  public record Times(long count, long totalNs) {}

  /**
   * The times of executions of one batch size.
   *
   * @param batchSize rows of the batch
   * @param computeInput gathering inputs
   * @param computeInfer running the model
   * @param computeOutput handing out outputs
   */
  public record Batches(
      long batchSize, Times computeInput, Times computeInfer, Times computeOutput) {}
}
