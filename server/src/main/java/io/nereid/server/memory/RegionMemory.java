package io.nereid.server.memory;

import io.nereid.tensor.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The memory that contains a region, open until closed. Any thread may call. */
interface RegionMemory extends AutoCloseable {

  /** Fills {@code to} from {@code position} on. */
  void read(long position, MemorySegment to);

  /** Writes {@code from} at {@code position}. */
  void write(long position, MemorySegment from);

  /** A part of the memory on a GPU; empty: this is memory of the processor. */
  default Optional<DeviceMemory> onDevice(long position, long byteSize) {
    return Optional.empty();
  }

  @Override
  void close();
}
