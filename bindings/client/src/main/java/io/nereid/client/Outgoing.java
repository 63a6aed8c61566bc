package io.nereid.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of inputs in a form that a transport's threads can read: native memory that any thread may
 * use as it is, everything else as a copy in memory of the pool.
 */
final class Outgoing implements AutoCloseable {

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
