package io.nereid.client;

/**
 * Executions of one batch size.
 *
 * @param batchSize rows of the batch
 * @param computeInput gathering inputs
 * @param computeInfer running the model
 * @param computeOutput handing out outputs
 */
public record BatchStatistics(
    long batchSize,
    DurationStatistic computeInput,
    DurationStatistic computeInfer,
    DurationStatistic computeOutput) {}
