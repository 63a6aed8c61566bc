package io.nereid.recording;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Messages in a bounded piece of native memory, on their way from any number of threads to one. A
 * thread claims room, fills it in, and publishes it; nobody ever waits. Once it is closed, using it
 * throws {@link IllegalStateException}.
 */
final class MessageRing implements AutoCloseable {

  /** A message begins at a multiple of this, and has a lap of its own. */
  private static final int UNIT = 64;

  private static final int LENGTH_BYTES = 4;
  private static final VarHandle LAP = MethodHandles.arrayElementVarHandle(int[].class);
  private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final long capacity;

  /** The lap, from 1, in which the message that begins at a unit was published last. */
  private final int[] laps;

  private final AtomicLong tail = new AtomicLong(); // where the next message begins
  private volatile long head; // where the oldest one begins; written by who reads
  private int readLength; // of the message that is being read

  MessageRing(long byteSize) {
    capacity = byteSize / UNIT * UNIT;
    memory = arena.allocate(capacity, UNIT);
    laps = new int[(int) (capacity / UNIT)];
  }

  /** The length of the largest message: half of the room. */
  long mostBytes() {
    return capacity / 2 / UNIT * UNIT - LENGTH_BYTES;
  }

  /**
   * Returns where a message of this length is to be written, or -1 where there is no room for it
   * now. The caller publishes it in any case.
   */
  long claim(long length) {
    if (length > mostBytes()) {
      return -1;
    }
    long need = align(LENGTH_BYTES + length);
    while (true) {
      long at = tail.get();
      long toEnd = capacity - at % capacity;
      long padding = toEnd < need ? toEnd : 0;
      if (at + padding + need - head > capacity) {
        return -1;
      }
      if (tail.compareAndSet(at, at + padding + need)) {
        if (padding > 0) {
          abandon(at, padding - LENGTH_BYTES);
        }
        return at + padding;
      }
    }
  }

  /** The room of a message that was claimed. */
  MemorySegment room(long claimed, long length) {
    return memory.asSlice(claimed % capacity + LENGTH_BYTES, length);
  }

  /** Hands a message to the reader. */
  void publish(long claimed, long length) {
    mark(claimed, (int) length);
  }

  /** Lets the reader skip what was claimed. */
  void abandon(long claimed, long length) {
    mark(claimed, (int) -length);
  }

  private void mark(long at, int length) {
    memory.set(LENGTH, at % capacity, length);
    LAP.setRelease(laps, (int) (at % capacity / UNIT), lap(at));
  }

  private int lap(long at) {
    return (int) (at / capacity) + 1;
  }

  private static long align(long size) {
    return (size + UNIT - 1) / UNIT * UNIT;
  }

  /** The oldest message, for the one thread that reads; null: there is none now. */
  MemorySegment peek() {
    while (true) {
      long at = head;
      long offset = at % capacity;
      if ((int) LAP.getAcquire(laps, (int) (offset / UNIT)) != lap(at)) {
        return null;
      }
      readLength = memory.get(LENGTH, offset);
      if (readLength >= 0) {
        return memory.asSlice(offset + LENGTH_BYTES, readLength);
      }
      release();
    }
  }

  /** Gives the room of the message that was peeked at back. */
  void release() {
    head += align(LENGTH_BYTES + Math.abs((long) readLength));
  }

  /** True if more than a quarter of the room is taken. */
  boolean isBusy() {
    return tail.get() - head > capacity / 4;
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    arena.close();
  }
}
