package io.nereid.server.grpc;

import java.util.concurrent.ArrayBlockingQueue;

/** Arrays through which replies go to the transport, which takes nothing else. */
final class ChunkPool {

  static final int CHUNK_BYTES = 32 << 10;

  /** As many as threads write at once; more are left to the collector. */
  private static final ArrayBlockingQueue<byte[]> FREE =
      new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());

  private ChunkPool() {}

  static byte[] take() {
    byte[] chunk = FREE.poll();
    return chunk == null ? new byte[CHUNK_BYTES] : chunk;
  }

  /** Takes a chunk back; longer ones are dropped. */
  static void give(byte[] chunk) {
    if (chunk.length == CHUNK_BYTES) {
      FREE.offer(chunk);
    }
  }
}
