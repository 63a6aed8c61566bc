package io.nereid.benchmarks.peers;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.bytedeco.javacpp.Pointer;

/**
 * Memory for Triton's outputs. What was given back last is given out first, because the processor's
 * caches still have it.
 */
final class TritonOutputs {

  private static final long ALIGNMENT = 64;

  /** The same memory for Java and for JavaCPP. */
  record Output(MemorySegment segment, Pointer pointer) {}

  private final long byteSize;
  private final ArrayDeque<Output> free = new ArrayDeque<>();

  TritonOutputs(Workload workload) {
    byteSize = (long) workload.elements() * Float.BYTES;
  }

  Output take(long wantedByteSize) {
    if (wantedByteSize != byteSize) {
      throw new IllegalStateException(
          "expected outputs of %d bytes, Triton asks for %d".formatted(byteSize, wantedByteSize));
    }
    synchronized (free) {
      if (!free.isEmpty()) {
        return free.pop();
      }
    }
    MemorySegment segment = Arena.ofAuto().allocate(byteSize, ALIGNMENT);
    return new Output(segment, new TritonRequest.Address(segment.address()));
  }

  void give(Output output) {
    synchronized (free) {
      free.push(output);
    }
  }
}
