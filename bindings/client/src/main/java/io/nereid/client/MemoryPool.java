package io.nereid.client;

import io.nereid.types.StatusCode;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory for tensors on their way. Native chunks are used again, because making one costs zeroing
 * it. They are never freed by hand: one that nobody gives back, or that is read after it was given
 * back, is the garbage collector's or stale, but never a fault.
 */
final class MemoryPool {

  /** Below this an array of the heap is cheaper. */
  private static final int LEAST_NATIVE_BYTES = 4096;

  private static final int ALIGNMENT = 64;

  /** Buffers cannot be larger, and begin at an aligned address. */
  static final int MOST_BYTES = (Integer.MAX_VALUE / ALIGNMENT - 1) * ALIGNMENT;

  private final long mostIdleBytes;
  private final AtomicLong idleBytes = new AtomicLong();

  /** Chunks at rest by their size. */
  private final ConcurrentMap<Integer, ConcurrentLinkedDeque<ByteBuffer>> idle =
      new ConcurrentHashMap<>();

  /** Keeps at most {@code mostIdleBytes} while nobody uses them. */
  MemoryPool(long mostIdleBytes) {
    this.mostIdleBytes = mostIdleBytes;
  }

  /** Memory of exactly this size, with any content. */
  Lease take(long byteSize) {
    if (byteSize > MOST_BYTES) {
      throw new InferenceException(
          StatusCode.RESOURCE_EXHAUSTED,
          "tensors of a message can have " + MOST_BYTES + " bytes, these have " + byteSize);
    }
    int size = (int) byteSize;
    if (size < LEAST_NATIVE_BYTES) {
      return new Lease(ByteBuffer.allocate(size), null);
    }
    int chunkSize = chunkSize(size);
    ConcurrentLinkedDeque<ByteBuffer> chunks = idle.get(chunkSize);
    ByteBuffer chunk = chunks == null ? null : chunks.pollFirst();
    if (chunk == null) {
      chunk = allocate(chunkSize);
    } else {
      idleBytes.addAndGet(-chunkSize);
    }
    return new Lease(Buffers.slice(chunk, 0, size), chunk);
  }

  private static ByteBuffer allocate(int chunkSize) {
    try {
      ByteBuffer memory = ByteBuffer.allocateDirect(chunkSize + ALIGNMENT);
      return memory.alignedSlice(ALIGNMENT).slice(0, chunkSize);
    } catch (OutOfMemoryError e) {
      throw new InferenceException(
          StatusCode.RESOURCE_EXHAUSTED, "no memory for a tensor of " + chunkSize + " bytes", e);
    }
  }

  /** The next quarter step between powers of two: at most a fifth is wasted. */
  private static int chunkSize(int byteSize) {
    long step = Math.max(LEAST_NATIVE_BYTES, Integer.highestOneBit(byteSize) / 4);
    return (int) Math.min(MOST_BYTES, (byteSize + step - 1) / step * step);
  }

  /** Bytes that nobody uses. */
  long idleBytes() {
    return idleBytes.get();
  }

  /** Memory in use; closing it gives it back, once. */
  final class Lease implements AutoCloseable {
    private final ByteBuffer memory;
    private final ByteBuffer chunk; // null: of the heap
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(ByteBuffer memory, ByteBuffer chunk) {
      this.memory = memory;
      this.chunk = chunk;
    }

    int byteSize() {
      return memory.limit();
    }

    /** A little-endian view of all of it. */
    ByteBuffer buffer() {
      return Buffers.view(memory);
    }

    /** The same memory, of which only the first bytes count. In place of this one. */
    Lease first(int byteSize) {
      closed.set(true);
      return new Lease(Buffers.slice(memory, 0, byteSize), chunk);
    }

    @Override
    public void close() {
      if (chunk == null || !closed.compareAndSet(false, true)) {
        return;
      }
      int size = chunk.capacity();
      if (idleBytes.addAndGet(size) > mostIdleBytes) {
        idleBytes.addAndGet(-size);
        return;
      }
      idle.computeIfAbsent(size, any -> new ConcurrentLinkedDeque<>()).addFirst(chunk);
    }
  }

  /**
   * Bytes of inputs in a form that a transport's threads can read: native memory that any thread
   * may use as it is, everything else as a copy in memory of the pool.
   */
  static final class Outgoing implements AutoCloseable {

    private final MemoryPool pool;
    private final List<MemoryPool.Lease> copies = new ArrayList<>();

    Outgoing(MemoryPool pool) {
      this.pool = pool;
    }

    ByteBuffer shareable(Buffer memory) {
      if (memory instanceof ByteBuffer && Platform.isShared((ByteBuffer) memory)) {
        return Buffers.view((ByteBuffer) memory);
      }
      return Buffers.copy(memory, take(Buffers.byteSize(memory))).flip();
    }

    /** Memory to write to. */
    ByteBuffer take(long byteSize) {
      MemoryPool.Lease lease = pool.take(byteSize);
      copies.add(lease);
      return lease.buffer();
    }

    /** Gives the copies back. Only when it is certain that nobody reads them any more. */
    @Override
    public void close() {
      copies.forEach(MemoryPool.Lease::close);
    }
  }
}
