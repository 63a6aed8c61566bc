package io.nereid.server.memory;

/**
 * A part of a segment of system shared memory that a client registered.
 *
 * @param name what requests call it
 * @param key the segment that it is part of
 * @param offset where in the segment it begins, in bytes
 * @param byteSize its size
 */
public record SharedMemoryRegion(String name, String key, long offset, long byteSize)
    implements Region {}
