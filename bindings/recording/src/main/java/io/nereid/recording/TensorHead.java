package io.nereid.recording;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Walks over the tensors of a request's body: role, data type, absence, rank, number of the content
 * (int), size (long), dimensions (longs), name. Used by one thread.
 */
final class TensorHead {

  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The size of what every tensor has, without its dimensions and its name. */
  static final int FIXED_BYTES = 16;

  private static final int ABSENCE = 2;
  private static final int RANK = 3;
  private static final int NUMBER = 4;
  private static final int SIZE = 8;

  private final MemorySegment body;
  private long at;
  private int left;

  TensorHead(MemorySegment body, long tensorsAt) {
    this.body = body;
    left = Short.toUnsignedInt(body.get(SHORT, tensorsAt));
    at = tensorsAt + Short.BYTES;
  }

  /** True if the walk stands on a tensor. */
  boolean isThere() {
    return left > 0;
  }

  boolean hasContent() {
    return body.get(ValueLayout.JAVA_BYTE, at + ABSENCE) == Format.THERE;
  }

  long byteSize() {
    return body.get(LONG, at + SIZE);
  }

  /** Writes the number of its content. */
  void number(int number) {
    body.set(INT, at + NUMBER, number);
  }

  void next() {
    int rank = body.get(ValueLayout.JAVA_BYTE, at + RANK);
    long nameAt = at + FIXED_BYTES + (long) rank * Long.BYTES;
    at = nameAt + Integer.BYTES + body.get(INT, nameAt);
    left--;
  }
}
