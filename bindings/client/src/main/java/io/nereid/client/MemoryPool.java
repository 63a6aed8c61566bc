package io.nereid.client;

import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

  private static final long ALIGNMENT = 64;

  private final long mostIdleBytes;
  private final AtomicLong idleBytes = new AtomicLong();

  /** Chunks at rest by their size. */
  private final ConcurrentMap<Long, ConcurrentLinkedDeque<MemorySegment>> idle =
      new ConcurrentHashMap<>();

  /** Keeps at most {@code mostIdleBytes} while nobody uses them. */
  MemoryPool(long mostIdleBytes) {
    this.mostIdleBytes = mostIdleBytes;
  }

  /** Memory of exactly this size, with any content. */
  Lease take(long byteSize) {
    if (byteSize < LEAST_NATIVE_BYTES) {
      return new Lease(MemorySegment.ofArray(new byte[(int) byteSize]), null);
    }
    long chunkSize = chunkSize(byteSize);
    ConcurrentLinkedDeque<MemorySegment> chunks = idle.get(chunkSize);
    MemorySegment chunk = chunks == null ? null : chunks.pollFirst();
    if (chunk == null) {
      chunk = allocate(chunkSize);
    } else {
      idleBytes.addAndGet(-chunkSize);
    }
    return new Lease(chunk.asSlice(0, byteSize), chunk);
  }

  private static MemorySegment allocate(long chunkSize) {
    try {
      return Arena.ofAuto().allocate(chunkSize, ALIGNMENT);
    } catch (OutOfMemoryError e) {
      throw new InferenceException(
          StatusCode.RESOURCE_EXHAUSTED, "no memory for a tensor of " + chunkSize + " bytes", e);
    }
  }

  /** The next quarter step between powers of two: at most a fifth is wasted. */
  private static long chunkSize(long byteSize) {
    long step = Math.max(LEAST_NATIVE_BYTES, Long.highestOneBit(byteSize) / 4);
    return Math.ceilDiv(byteSize, step) * step;
  }

  /** Bytes that nobody uses. */
  long idleBytes() {
    return idleBytes.get();
  }

  /** Memory in use; closing it gives it back, once. */
  final class Lease implements AutoCloseable {
    private final MemorySegment segment;
    private final MemorySegment chunk; // null: of the heap
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(MemorySegment segment, MemorySegment chunk) {
      this.segment = segment;
      this.chunk = chunk;
    }

    MemorySegment segment() {
      return segment;
    }

    /** The same memory, of which only the first bytes count. In place of this one. */
    Lease first(long byteSize) {
      closed.set(true);
      return new Lease(segment.asSlice(0, byteSize), chunk);
    }

    @Override
    public void close() {
      if (chunk == null || !closed.compareAndSet(false, true)) {
        return;
      }
      long size = chunk.byteSize();
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

    /** A thread that is not the caller, to ask whether others may use a segment. */
    private static final Thread OTHER = Thread.ofPlatform().unstarted(() -> {});

    /** Buffers cannot be larger than 2^31 - 1 bytes. */
    private static final long MOST_VIEW_BYTES = 1 << 30;

    private final MemoryPool pool;
    private final List<MemoryPool.Lease> copies = new ArrayList<>();

    Outgoing(MemoryPool pool) {
      this.pool = pool;
    }

    MemorySegment shareable(MemorySegment segment) {
      if (segment.isNative() && segment.isAccessibleBy(OTHER)) {
        return segment;
      }
      return take(segment.byteSize()).copyFrom(segment);
    }

    /** Memory to write to. */
    MemorySegment take(long byteSize) {
      MemoryPool.Lease lease = pool.take(byteSize);
      copies.add(lease);
      return lease.segment();
    }

    /** Adds views of everything in the segment. */
    void addViews(MemorySegment segment, List<ByteBuffer> to) {
      MemorySegment shareable = shareable(segment);
      for (long at = 0; at < shareable.byteSize(); at += MOST_VIEW_BYTES) {
        long size = Math.min(MOST_VIEW_BYTES, shareable.byteSize() - at);
        to.add(shareable.asSlice(at, size).asByteBuffer());
      }
    }

    /** Gives the copies back. Only when it is certain that nobody reads them any more. */
    @Override
    public void close() {
      copies.forEach(MemoryPool.Lease::close);
    }
  }
}
