package io.nereid.client;

import java.time.Instant;
import java.util.List;
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
 */
public record ModelStatistics(
    String name,
    String version,
    Optional<Instant> lastInference,
    long inferenceCount,
    long executionCount,
    DurationStatistic success,
    DurationStatistic fail,
    DurationStatistic queue,
    DurationStatistic computeInput,
    DurationStatistic computeInfer,
    DurationStatistic computeOutput,
    DurationStatistic cacheHit,
    DurationStatistic cacheMiss,
    List<BatchStatistics> batches) {}
