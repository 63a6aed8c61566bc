package io.nereid.server.memory;

import java.util.ArrayList;
import java.util.List;

/** The parts of regions that one request uses, kept until its outputs are written. */
public final class RequestSlices implements AutoCloseable {

  private final SharedMemoryRegions regions;
  private List<RegionSlice> slices = List.of();

  /** Makes an empty collection for a request. */
  public RequestSlices(SharedMemoryRegions regions) {
    this.regions = regions;
  }

  /**
   * Opens a slice as {@link SharedMemoryRegions#slice} does; closing this object closes the slice.
   */
  public RegionSlice open(String region, long offset, long byteSize) {
    RegionSlice slice = regions.slice(region, offset, byteSize);
    if (slices.isEmpty()) {
      slices = new ArrayList<>(2);
    }
    slices.add(slice);
    return slice;
  }

  /** Releases the regions early; releasing twice does nothing. */
  public void release() {
    slices.forEach(RegionSlice::close);
    slices = List.of();
  }

  @Override
  public void close() {
    release();
  }
}
