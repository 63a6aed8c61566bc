package io.nereid.server.http;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.LongConsumer;

/** Elements of a BYTES tensor whose size is not known yet: the length of each, then its bytes. */
final class BytesBuffer {

  private static final ValueLayout.OfInt LENGTH =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final LongConsumer heap;
  private byte[] bytes = new byte[256];
  private MemorySegment segment = MemorySegment.ofArray(bytes);
  private int size;

  /** {@code heap} is told what more of it is needed, and refuses what is not there. */
  BytesBuffer(LongConsumer heap) {
    this.heap = heap;
  }

  int size() {
    return size;
  }

  /** Adds an element, whose bytes are at the start of {@code element}. */
  void add(byte[] element, int length) {
    int end = Math.addExact(size, Integer.BYTES + length);
    if (end > bytes.length) {
      int room = HeapArrays.grown(bytes.length, end);
      heap.accept(HeapArrays.cost(room) - HeapArrays.cost(bytes.length));
      bytes = Arrays.copyOf(bytes, room);
      segment = MemorySegment.ofArray(bytes);
    }
    segment.set(LENGTH, size, length);
    System.arraycopy(element, 0, bytes, size + Integer.BYTES, length);
    size = end;
  }

  void copyTo(MemorySegment target) {
    MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, 0, size);
  }
}
