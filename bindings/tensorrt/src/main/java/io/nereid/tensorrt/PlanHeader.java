package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The first bytes of a plan, as far as NVIDIA's own tools read them: a tag, the number of the
 * format, and the version of TensorRT that built it. Its GPU is not among them.
 */
final class PlanHeader {

  private static final int TAG = 0x74727466; // "ftrt"
  private static final int FORMAT = 0;
  private static final long FORMAT_AT = 4;
  private static final long VERSION_AT = 24;
  static final long BYTES = 28;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private PlanHeader() {}

  /** Whether it begins as plans of TensorRT 8.6 and later do. */
  static boolean isPlan(MemorySegment plan) {
    return plan.byteSize() >= BYTES && plan.get(INT, 0) == TAG;
  }

  /** The version that built it; empty when the format is one that nobody has told of. */
  static Optional<TensorRtVersion> version(MemorySegment plan) {
    if (!isPlan(plan) || plan.get(INT, FORMAT_AT) != FORMAT) {
      return Optional.empty();
    }
    return Optional.of(
        new TensorRtVersion(
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT)),
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT + 1)),
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT + 2))));
  }
}
