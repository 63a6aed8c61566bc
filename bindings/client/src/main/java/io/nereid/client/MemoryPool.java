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
 * Memory for sending and receiving tensors. Native chunks are reused, because making one includes
 * zeroing it. They are never freed explicitly: a chunk that is not given back is collected as
 * garbage, and one that is read too late has stale content, but never causes a fault.
 */
final class MemoryPool {

  /** The size below which an array on the heap is cheaper. */
  private static final int LEAST_NATIVE_BYTES = 4096;

  private static final int ALIGNMENT = 64;

  /** The largest size of a buffer that begins at an aligned address. */
  static final int MOST_BYTES = (Integer.MAX_VALUE / ALIGNMENT - 1) * ALIGNMENT;

  private final long mostIdleBytes;
  private final AtomicLong idleBytes = new AtomicLong();

  /** Chunks at rest by their size. */
  private final ConcurrentMap<Integer, ConcurrentLinkedDeque<ByteBuffer>> idle =
      new ConcurrentHashMap<>();

  /** Keeps at most {@code mostIdleBytes} of unused memory. */
  MemoryPool(long mostIdleBytes) {
    this.mostIdleBytes = mostIdleBytes;
  }

  /** Takes memory of exactly this size, with undefined content. */
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

  /** Drops idle chunks of a size until the limit holds. */
  private void shrink(int chunkSize) {
    ConcurrentLinkedDeque<ByteBuffer> chunks = idle.get(chunkSize);
    while (idleBytes.get() > mostIdleBytes && chunks.pollLast() != null) {
      idleBytes.addAndGet(-chunkSize);
    }
  }

  /** The unused bytes. */
  long idleBytes() {
    return idleBytes.get();
  }

  /** Memory in use; closing it gives it back, once. */
  final class Lease implements AutoCloseable {
    private final ByteBuffer memory;
    private final ByteBuffer chunk; // null: memory of the heap
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(ByteBuffer memory, ByteBuffer chunk) {
      this.memory = memory;
      this.chunk = chunk;
    }

    int byteSize() {
      return memory.limit();
    }

    /** A little-endian view of the whole memory. */
    ByteBuffer buffer() {
      return Buffers.view(memory);
    }

    /** Returns a lease of the first bytes of the same memory, which replaces this one. */
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
      if (size <= mostIdleBytes) {
        idle.computeIfAbsent(size, any -> new ConcurrentLinkedDeque<>()).addFirst(chunk);
        if (idleBytes.addAndGet(size) > mostIdleBytes) {
          idle.keySet().stream().filter(other -> other != size).forEach(MemoryPool.this::shrink);
          shrink(size);
        }
      }
    }
  }

  /**
   * Bytes of inputs in a form that a transport's threads can read: native memory that any thread
   * may use without a copy, other memory as a copy in the pool.
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

    /** Gives the copies back. Called only when they are certainly not read any more. */
    @Override
    public void close() {
      copies.forEach(MemoryPool.Lease::close);
    }
  }
}
