package io.nereid.tensorrt;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** An address for JavaCPP. It owns nothing and can be changed. */
final class NativePointer extends Pointer {

  NativePointer() {}

  NativePointer(long address) {
    this.address = address;
  }

  static NativePointer of(MemorySegment segment) {
    return new NativePointer(segment.address());
  }

  NativePointer at(long newAddress) {
    address = newAddress;
    return this;
  }
}
