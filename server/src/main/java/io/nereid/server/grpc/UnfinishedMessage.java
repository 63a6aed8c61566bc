package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;

/**
 * Where a stream is within its messages, each of which has five bytes in front: whether it is
 * compressed, and its length. For one thread.
 */
final class UnfinishedMessage {

  private static final int PREFIX_BYTES = 5;

  /** What each frame of a message takes beside its bytes: gRPC holds them one by one. */
  private static final int FRAME_BYTES = 256;

  private int prefixCount; // bytes of the prefix that are there
  private long length; // as far as the prefix tells it
  private long bodyCount; // bytes behind the prefix that are there
  private long heldBytes;
  private long progressBytes; // since the time below
  private long progressNs = System.nanoTime();

  /** Whether a stream that was between messages is so behind these bytes. */
  static boolean areWhole(ByteBuf data) {
    int position = data.readerIndex();
    int left = data.readableBytes();
    while (left >= PREFIX_BYTES) {
      int length = data.getInt(position + 1);
      if (length < 0 || length > left - PREFIX_BYTES) {
        return false;
      }
      position += PREFIX_BYTES + length;
      left -= PREFIX_BYTES + length;
    }
    return left == 0;
  }

  /** Takes what comes next. */
  void take(ByteBuf data) {
    int position = data.readerIndex();
    int end = data.writerIndex();
    int begin = position; // of what belongs to the message that is unfinished in the end
    while (position < end) {
      if (prefixCount < PREFIX_BYTES) {
        int next = data.getUnsignedByte(position++);
        length = prefixCount++ == 0 ? 0 : length << 8 | next;
      } else {
        long count = Math.min(length - bodyCount, end - position);
        bodyCount += count;
        position += (int) count;
      }
      if (prefixCount == PREFIX_BYTES && bodyCount == length) {
        prefixCount = 0;
        length = 0;
        bodyCount = 0;
        heldBytes = 0;
        begin = position;
        progressBytes = 0;
        progressNs = System.nanoTime();
      }
    }
    if (begin < end) {
      heldBytes += end - begin + FRAME_BYTES;
      progressBytes += end - begin;
    }
  }

  /** Whether the last message is complete. */
  boolean isWhole() {
    return prefixCount == 0;
  }

  /** What its prefix says; 0 where that is not there. */
  long length() {
    return prefixCount == PREFIX_BYTES ? length : 0;
  }

  /** What is held of it. */
  long heldBytes() {
    return heldBytes;
  }

  /** What came last is not held. */
  void keep(long bytes) {
    heldBytes = bytes;
  }

  /** False when less than {@code bytes} came within a time, which begins anew otherwise. */
  boolean gotOn(long bytes, long withinNs) {
    long nowNs = System.nanoTime();
    if (nowNs - progressNs < withinNs) {
      return true;
    }
    if (progressBytes < bytes) {
      return false;
    }
    progressBytes = 0;
    progressNs = nowNs;
    return true;
  }
}
