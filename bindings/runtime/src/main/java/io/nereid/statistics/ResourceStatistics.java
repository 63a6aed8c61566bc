package io.nereid.statistics;

import java.util.OptionalInt;

/**
 * A resource that instances need for their executions, now.
 *
 * @param name its name
 * @param device the number of its device; empty: it is one for all devices
 * @param total how much there is
 * @param free how much of it no execution holds
 * @param waiting instances that need it and wait
 */
public record ResourceStatistics(
    String name, OptionalInt device, long total, long free, int waiting) {}
