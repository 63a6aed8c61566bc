package io.nereid.tensorrt;

/**
 * A GPU, as the driver describes it.
 *
 * @param number its number among those that the process may use
 * @param name what its maker calls it
 * @param major of its compute capability, as 9 in 9.0
 * @param minor of its compute capability
 * @param memoryBytes all of its memory
 */
public record CudaDevice(int number, String name, int major, int minor, long memoryBytes) {

  /** The compute capability as NVIDIA writes it, such as {@code 9.0}. */
  public String computeCapability() {
    return major + "." + minor;
  }
}
