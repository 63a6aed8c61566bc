package io.nereid.server.memory;

import java.lang.foreign.MemorySegment;

/** The memory that a region is part of, open until it is closed. From any thread. */
interface RegionMemory extends AutoCloseable {

  /** Fills {@code to} with what begins at {@code position}. */
  void read(long position, MemorySegment to);

  /** Writes {@code from} at {@code position}. */
  void write(long position, MemorySegment from);

  @Override
  void close();
}
