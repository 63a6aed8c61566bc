package io.nereid.client;

/**
 * A shared memory region that is registered with a server.
 *
 * @param name the name it is registered under
 * @param key its name in the system
 * @param offset where it begins in that
 * @param byteSize its size
 */
public record SharedMemoryStatus(String name, String key, long offset, long byteSize) {}
