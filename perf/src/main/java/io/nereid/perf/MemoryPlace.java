package io.nereid.perf;

/**
 * A part of shared memory.
 *
 * @param region its name at the server
 * @param offset where it begins
 * @param byteSize its size
 */
record MemoryPlace(String region, long offset, long byteSize) {}
