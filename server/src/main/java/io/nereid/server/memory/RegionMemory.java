package io.nereid.server.memory;

import io.nereid.tensor.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The memory that a region is part of, open until it is closed. From any thread. */
interface RegionMemory extends AutoCloseable {

  /** Fills {@code to} with what begins at {@code position}. */
  void read(long position, MemorySegment to);

  /** Writes {@code from} at {@code position}. */
  void write(long position, MemorySegment from);

  /** The place of a part of it on a GPU; empty: it is memory of the processor. */
  default Optional<DeviceMemory> onDevice(long position, long byteSize) {
    return Optional.empty();
  }

  @Override
  void close();
}
