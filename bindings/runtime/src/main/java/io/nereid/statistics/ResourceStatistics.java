package io.nereid.statistics;

import java.util.OptionalInt;

/**
 * A resource that instances need for their executions, now.
 *
 * @param name its name
 * @param device the number of its device; empty: all devices share it
 * @param total the amount
 * @param free the amount that no execution holds
 * @param waiting instances that need it and wait
 */
public record ResourceStatistics(
    String name, OptionalInt device, long total, long free, int waiting) {}
