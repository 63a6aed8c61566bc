package io.nereid.statistics;

/**
 * Distributions of the times that requests spent in stages.
 *
 * @param computeInput gathering inputs
 * @param computeInfer running the backend
 * @param computeOutput handing out outputs
 * @param cacheHit finding and copying answers in the response cache
 * @param cacheMiss finding no answer there, and storing the new one
 */
public record StageHistograms(
    Histogram computeInput,
    Histogram computeInfer,
    Histogram computeOutput,
    Histogram cacheHit,
    Histogram cacheMiss) {}
