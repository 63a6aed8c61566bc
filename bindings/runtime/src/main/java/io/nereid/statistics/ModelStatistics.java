package io.nereid.statistics;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The figures of one loaded version of a model, since it was loaded.
 *
 * @param instanceCount how many executions may run at once
 * @param lastInference when the last request finished
 * @param inferenceCount rows that were executed (requests, for models without a batch dimension)
 * @param executionCount batches that were executed with success
 * @param inlineCount executions on the thread that sent the request
 * @param pendingCount requests that wait now
 * @param executingCount requests that execute now
 * @param success requests that succeeded, from submission to answer
 * @param fail requests that failed
 * @param queue time in the queue
 * @param computeInput gathering inputs
 * @param computeInfer running the backend
 * @param computeOutput handing out outputs
 * @param cacheHit requests answered from the response cache
 * @param cacheMiss requests that the response cache did not know
 * @param failRejected refused or timed out: queue full, timeout, deadline, draining
 * @param failCancelled cancelled before they ran
 * @param failBackend failed in the backend
 * @param failOther invalid, or out of memory
 * @param batchEnds batches that were begun, by what ended them
 * @param batches per batch size, ascending
 * @param queueHistogram distribution of the time in the queue
 * @param computeHistogram distribution of the time in the backend
 * @param totalHistogram distribution of the time from submission to answer
 * @param stages distributions of other times, with {@code NereidOptions.stageHistograms} only
 * @param sequences its sequences; empty: it has none
 * @param objective the figures of its objective; empty: it has none
 */
public record ModelStatistics(
    int instanceCount,
    Optional<Instant> lastInference,
    long inferenceCount,
    long executionCount,
    long inlineCount,
    long pendingCount,
    long executingCount,
    DurationStatistic success,
    DurationStatistic fail,
    DurationStatistic queue,
    DurationStatistic computeInput,
    DurationStatistic computeInfer,
    DurationStatistic computeOutput,
    DurationStatistic cacheHit,
    DurationStatistic cacheMiss,
    long failRejected,
    long failCancelled,
    long failBackend,
    long failOther,
    Map<BatchEnd, Long> batchEnds,
    List<BatchStatistics> batches,
    Histogram queueHistogram,
    Histogram computeHistogram,
    Histogram totalHistogram,
    Optional<StageHistograms> stages,
    Optional<SequenceStatistics> sequences,
    Optional<ObjectiveStatistics> objective) {}
