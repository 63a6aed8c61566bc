package io.nereid.tensor;

import io.nereid.internal.Checks;

/**
 * Memory of a GPU, in the address space of this process.
 *
 * @param device the number of the GPU
 * @param address where it begins
 * @param byteSize its size
 */
public record DeviceMemory(int device, long address, long byteSize) {

  /** Checks the values. */
  public DeviceMemory {
    Checks.notNegative(device, "device");
    Checks.notNegative(byteSize, "byteSize");
  }
}
