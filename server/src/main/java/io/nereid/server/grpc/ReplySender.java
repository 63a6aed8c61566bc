package io.nereid.server.grpc;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.wire.LoopStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * Sends the messages of a connection's calls: from where they lie, or a copy. Everything is called
 * on the connection's loop.
 */
final class ReplySender {

  /** What a call's client is told when there is no heap for a reply. */
  static final int NO_HEAP = -1;

  private static final byte COMPRESSED = 1;
  private static final byte PLAIN = 0;

  /** Copies of longer messages count in the heap's budget before they are made. */
  private static final int SHORT_BYTES = 64 << 10;

  private final GrpcCompression compression;
  private final HeapBudget heap;
  private final ReplyBytes reply = new ReplyBytes();

  ReplySender(GrpcCompression compression, HeapBudget heap) {
    this.compression = compression;
    this.heap = heap;
  }

  /** Sends a message; gives how many bytes it has on its way, or {@link #NO_HEAP}. */
  int send(LoopStream stream, InputStream message, boolean isGzip) throws IOException {
    try {
      if (!isGzip && message instanceof LendableReply tensors && tensors.lendTo(stream, reply)) {
        return tensors.byteCount();
      }
      int length = message instanceof KnownLength ? message.available() : 0;
      if (length > SHORT_BYTES) {
        return sendLong(stream, message, length, isGzip);
      }
      int count = write(message, reply.begin(), isGzip);
      int end = reply.end(isGzip ? COMPRESSED : PLAIN);
      return stream.copy(reply.array(), 0, end) ? count : NO_HEAP;
    } finally {
      reply.shrink();
    }
  }

  /** The only copy of it is sent from where it lies. */
  private int sendLong(LoopStream stream, InputStream message, int length, boolean isGzip)
      throws IOException {
    if (!heap.take(length)) {
      return NO_HEAP;
    }
    ReplyBytes bytes;
    int count;
    boolean isWritten = false;
    try {
      bytes = new ReplyBytes(length);
      count = write(message, bytes.begin(), isGzip);
      isWritten = true;
    } finally {
      if (!isWritten) {
        heap.giveBack(length);
      }
    }
    int end = bytes.end(isGzip ? COMPRESSED : PLAIN);
    stream.lend(
        new ByteBuffer[] {ByteBuffer.wrap(bytes.array(), 0, end)}, () -> heap.giveBack(length));
    return count;
  }

  /** Gives how many bytes were written. */
  private int write(InputStream bytes, ReplyBytes to, boolean isGzip) throws IOException {
    try (OutputStream packed = isGzip ? compression.compress(to) : to) {
      if (bytes instanceof Drainable drainable) {
        drainable.drainTo(packed);
      } else {
        bytes.transferTo(packed);
      }
    }
    return to.count();
  }
}
