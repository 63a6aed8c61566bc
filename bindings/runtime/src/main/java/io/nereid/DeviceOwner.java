package io.nereid;

import java.lang.foreign.MemorySegment;

/** Of inputs and outputs in the memory of a GPU: they have a type and a shape alone. */
final class DeviceOwner extends TensorOwner {

  static final DeviceOwner INSTANCE = new DeviceOwner();

  private DeviceOwner() {}

  @Override
  void checkOpen() {}

  @Override
  MemorySegment memory() {
    throw new IllegalStateException(
        "the tensor is on a GPU, where its request has it or wanted it");
  }
}
