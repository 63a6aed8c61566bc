package io.nereid.statistics;

/**
 * Executions of one batch size.
 *
 * @param batchSize rows per execution
 * @param computeInput gathering the inputs
 * @param computeInfer running the backend
 * @param computeOutput handing out the outputs
 */
public record BatchStatistics(
    long batchSize,
    DurationStatistic computeInput,
    DurationStatistic computeInfer,
    DurationStatistic computeOutput) {}
