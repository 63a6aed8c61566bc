package io.nereid.tensorrt;

import io.nereid.internal.cuda.CudaDevice;

/**
 * A GPU, as the driver describes it.
 *
 * @param number its number among those that the process may use
 * @param name the maker's name of it
 * @param major of its compute capability, as 9 in 9.0
 * @param minor of its compute capability
 * @param memoryBytes all of its memory
 */
public record Gpu(int number, String name, int major, int minor, long memoryBytes) {

  static Gpu of(CudaDevice device) {
    return new Gpu(
        device.number(), device.name(), device.major(), device.minor(), device.memoryBytes());
  }

  /** The compute capability as NVIDIA writes it, such as {@code 9.0}. */
  public String computeCapability() {
    return major + "." + minor;
  }
}
