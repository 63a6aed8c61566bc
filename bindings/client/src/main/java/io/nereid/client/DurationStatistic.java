package io.nereid.client;

/**
 * How often something happened and how long it took altogether.
 *
 * @param count how often
 * @param totalNs how long, altogether
 */
public record DurationStatistic(long count, long totalNs) {}
