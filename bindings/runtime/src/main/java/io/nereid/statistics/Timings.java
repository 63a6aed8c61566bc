package io.nereid.statistics;

/**
 * The times that one request spent in each stage, in nanoseconds.
 *
 * @param queueNs waiting
 * @param computeInputNs gathering the batch's inputs
 * @param computeInferNs running the backend
 * @param computeOutputNs handing out the outputs
 */
public record Timings(
    long queueNs, long computeInputNs, long computeInferNs, long computeOutputNs) {}
