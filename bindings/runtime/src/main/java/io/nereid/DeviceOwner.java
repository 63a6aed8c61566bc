package io.nereid;

import java.lang.foreign.MemorySegment;

/** Of outputs that were written into the memory of a GPU: they have a type and a shape alone. */
final class DeviceOwner extends TensorOwner {

  static final DeviceOwner INSTANCE = new DeviceOwner();

  private DeviceOwner() {}

  @Override
  void checkOpen() {}

  @Override
  MemorySegment memory() {
    throw new IllegalStateException("the output is on a GPU, where its request wanted it");
  }
}
