package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The input of one identity request, in native memory that stays. Every request carries another
 * number at both ends, so an answer that belongs to an earlier one is found out.
 */
final class IdentityRequest {

  // The names in the configuration of the identity model.
  static final String NAME = "identity";
  static final String INPUT = "INPUT0";
  static final String OUTPUT = "OUTPUT0";

  /** Memory of automatic arenas is lent to Nereid without a copy. */
  private static final long ALIGNMENT = 64;

  private final MemorySegment input;
  private final long last;
  private long stamp;

  IdentityRequest(Workload workload) {
    long byteSize = (long) workload.elements() * Float.BYTES;
    input = Arena.ofAuto().allocate(byteSize, ALIGNMENT);
    last = byteSize - Long.BYTES;
  }

  MemorySegment input() {
    return input;
  }

  /** Makes it the input of the next request. */
  void next() {
    stamp++;
    input.set(JAVA_LONG, 0, stamp);
    input.set(JAVA_LONG, last, -stamp);
  }

  void check(MemorySegment output) {
    long first = output.get(JAVA_LONG, 0);
    if (output.byteSize() != input.byteSize()
        || first != stamp
        || output.get(JAVA_LONG, last) != -stamp) {
      throw new IllegalStateException(
          "expected an answer of %d bytes with the number %d, got %d bytes with %d"
              .formatted(input.byteSize(), stamp, output.byteSize(), first));
    }
  }
}
