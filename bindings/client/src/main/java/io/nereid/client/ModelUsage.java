package io.nereid.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a version of a model has done since it was loaded. What a server does not tell is zero.
 *
 * @param name the model's name
 * @param version its version
 * @param lastInference when the last request was
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
 * @param extensions what a server tells beside the protocol, such as the {@code objective} of
 *     Nereid; as JSON has it, and nothing over gRPC
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
   * How often something happened and how long it took altogether.
   *
   * @param count how often
   * @param totalNs how long, altogether
   */
  public record Times(long count, long totalNs) {}

  /**
   * What executions of one batch size took.
   *
   * @param batchSize rows of the batch
   * @param computeInput gathering inputs
   * @param computeInfer running the model
   * @param computeOutput handing out outputs
   */
  public record Batches(
      long batchSize, Times computeInput, Times computeInfer, Times computeOutput) {}
}
