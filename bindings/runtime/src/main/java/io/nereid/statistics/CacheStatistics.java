package io.nereid.statistics;

/**
 * The state of the response cache.
 *
 * @param byteLimit its cap; 0: there is no cache
 * @param bytes in use
 * @param entries responses that are kept
 * @param hits requests that were answered from it
 * @param misses requests that looked and found nothing
 * @param evictions responses that had to make room
 */
public record CacheStatistics(
    long byteLimit, long bytes, long entries, long hits, long misses, long evictions) {}
