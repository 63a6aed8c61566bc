package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The memory that a connection's buffers leave behind. */
final class ReplyBuffersTest {

  private static final int PAGE_BYTES = 8192;
  private static final int CHUNK_ORDER = 8;
  private static final long CHUNK_BYTES = (long) PAGE_BYTES << CHUNK_ORDER;

  /** Netty keeps memory of each size of small buffer: it must not lie among large ones. */
  @Test
  void largeMessagesLeaveNoMoreThanSmallOnes() {
    PooledByteBufAllocator usual =
        new PooledByteBufAllocator(true, 0, 1, PAGE_BYTES, CHUNK_ORDER, 0, 0, false);
    ReplyBuffers buffers = new ReplyBuffers(usual);
    List<ByteBuf> taken = new ArrayList<>();
    for (int bytes = 16; bytes < PAGE_BYTES; bytes *= 2) {
      taken.add(buffers.directBuffer(bytes));
      for (int i = 0; i < 32; i++) {
        taken.add(buffers.directBuffer(64 << 10));
      }
    }
    taken.forEach(ByteBuf::release);
    long left = usual.metric().usedDirectMemory();
    assertTrue(left <= CHUNK_BYTES, "expected one chunk, " + CHUNK_BYTES + " bytes, got " + left);
  }
}
