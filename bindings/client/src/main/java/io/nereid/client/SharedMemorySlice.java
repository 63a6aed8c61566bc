package io.nereid.client;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A part of a shared memory region that is registered with a server, in which a tensor lies or is
 * to be put. Made by {@link SharedMemoryRegion#slice}, or by {@link #of} for a region that another
 * program maps.
 */
public final class SharedMemorySlice {

  private final String region;
  private final long offset;
  private final long byteSize;
  private final MemorySegment mapped; // null: not mapped here

  SharedMemorySlice(String region, long offset, long byteSize, MemorySegment mapped) {
    this.region = Objects.requireNonNull(region);
    if (offset < 0 || byteSize < 0) {
      throw new IllegalArgumentException(
          "offset and size of a slice must not be negative: " + offset + ", " + byteSize);
    }
    this.offset = offset;
    this.byteSize = byteSize;
    this.mapped = mapped;
  }

  /** A part of a region that the server knows by the name and that is not mapped here. */
  public static SharedMemorySlice of(String region, long offset, long byteSize) {
    return new SharedMemorySlice(region, offset, byteSize, null);
  }

  /** The name the region is registered under. */
  public String region() {
    return region;
  }

  /** Where it begins in the region. */
  public long offset() {
    return offset;
  }

  /** Its size. */
  public long byteSize() {
    return byteSize;
  }

  /** The memory; throws {@link IllegalStateException} when it is not mapped here. */
  public MemorySegment segment() {
    if (mapped == null) {
      throw new IllegalStateException("region '" + region + "' is not mapped here");
    }
    return mapped;
  }

  MemorySegment mapped() {
    return mapped;
  }

  @Override
  public String toString() {
    return region + "[" + offset + ", " + byteSize + " bytes]";
  }
}
