package io.nereid.statistics;

/**
 * The state of the memory pool that inputs and outputs come from.
 *
 * @param byteLimit the cap
 * @param reservedBytes taken from the system
 * @param liveBytes handed out now, rounded up to the pool's size classes
 * @param highWaterBytes the most that was ever handed out at once
 * @param liveBuffers buffers handed out now
 * @param allocations buffers handed out so far
 * @param failures requests for memory that were refused
 * @param lockedBytes the part of the reserved memory that is page-locked for GPUs
 */
public record PoolStatistics(
    long byteLimit,
    long reservedBytes,
    long liveBytes,
    long highWaterBytes,
    long liveBuffers,
    long allocations,
    long failures,
    long lockedBytes) {}
