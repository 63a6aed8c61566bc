package io.nereid.server.grpc;

import io.grpc.ServerCall;
import io.grpc.netty.shaded.io.netty.buffer.AbstractByteBufAllocator;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.buffer.CompositeByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.PooledByteBufAllocator;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.util.concurrent.FastThreadLocal;
import io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of a connection of gRPC: the transport's own, but for what large messages are read to
 * and for large replies. grpc-java asks for a buffer as large as the message, and copies the
 * message there. For a large reply it gets a buffer with room for what stands before the outputs,
 * and the outputs are put behind that where they lie.
 */
final class ReplyBuffers extends AbstractByteBufAllocator {

  /** Replies with fewer bytes are copied, which is cheaper. */
  static final int LEAST_BYTES = 64 << 10;

  /** Each message has these in front: whether it is compressed, and its length. */
  private static final int PREFIX_BYTES = 5;

  /** The longest buffer that grpc-java asks for. */
  private static final int LONGEST_ASKED = 1 << 20;

  /** A client that has no more bytes of replies to take may get a reply in any case. */
  private static final int FEW_BYTES = 16 << 10;

  /** Most bytes that all replies together lend; clients may be slow to take them. */
  private static final long MOST_LENT = PlatformDependent.maxDirectMemory() / 2;

  private static final AtomicLong LENT = new AtomicLong();

  /** The reply that this thread hands to grpc-java, until that has asked for a buffer. */
  private static final FastThreadLocal<OutgoingReply> SENDING = new FastThreadLocal<>();

  /**
   * For what large messages are read to. Netty keeps a page or more for each size of small buffer
   * that was ever asked for, and the whole chunk around it: among large buffers that was nearly
   * every chunk of 2 MiB that a load had taken, for good. A chunk of 8 MiB that is free goes back.
   * One of 4 did so too often under load, which took 5 to 10 % more of a processor a request; one
   * of 16 left up to that much behind.
   */
  private static final PooledByteBufAllocator LARGE =
      new PooledByteBufAllocator(
          true, 0, Runtime.getRuntime().availableProcessors(), 8192, 10, 0, 0, false);

  /** Netty takes no buffer of this size for a small one. */
  private static final int LARGE_BYTES = 32 << 10;

  private final ByteBufAllocator usual;

  /** In place of a connection's usual allocator. */
  ReplyBuffers(ByteBufAllocator usual) {
    super(true);
    this.usual = usual;
  }

  /** The bytes of replies, lent or copied, that clients have not taken. */
  static SharedLimit limit() {
    return new SharedLimit(PlatformDependent.maxDirectMemory() / 4 * 3, FEW_BYTES);
  }

  /** Hands a reply to grpc-java, which is to be closed then. */
  static void send(OutgoingReply reply, ServerCall<?, OutgoingReply> call) {
    if (reply.available() < LEAST_BYTES) {
      call.sendMessage(reply);
      return;
    }
    SENDING.set(reply);
    try {
      call.sendMessage(reply);
    } finally {
      SENDING.set(null);
    }
  }

  @Override
  public ByteBuf buffer(int initial, int most) {
    OutgoingReply reply = SENDING.getIfExists();
    if (reply == null) {
      return usual.buffer(initial, most);
    }
    SENDING.set(null);
    // It asks for something else when it compresses.
    boolean isWhole = initial == Math.min(PREFIX_BYTES + reply.available(), LONGEST_ASKED);
    if (!isWhole || !reply.isNative()) {
      return usual.buffer(initial, most);
    }
    int room = PREFIX_BYTES + reply.headBytes();
    ByteBuf front = usual.directBuffer(room, room).writerIndex(room);
    if (LENT.addAndGet(reply.available()) > MOST_LENT) {
      LENT.addAndGet(-reply.available());
      front.release();
      return usual.buffer(initial, most);
    }
    Lent lent = new Lent(usual, reply, front);
    reply.lendTo(lent);
    return lent;
  }

  @Override
  protected ByteBuf newHeapBuffer(int initial, int most) {
    return usual.heapBuffer(initial, most);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initial, int most) {
    return (initial < LARGE_BYTES ? usual : LARGE).directBuffer(initial, most);
  }

  @Override
  public boolean isDirectBufferPooled() {
    return usual.isDirectBufferPooled();
  }

  /** A reply whose outputs are where the model left them; it gives them back when it was sent. */
  static final class Lent extends CompositeByteBuf {
    private final OutgoingReply reply;
    private final int bytes;

    private Lent(ByteBufAllocator allocator, OutgoingReply reply, ByteBuf front) {
      super(allocator, true, 2 * reply.contentCount() + 1);
      this.reply = reply;
      bytes = reply.available();
      addComponent(false, front); // to be written over
    }

    /** Adds a copy of these bytes. */
    void add(byte[] array, int from, int count) {
      addComponent(true, alloc().directBuffer(count, count).writeBytes(array, from, count));
    }

    /** Adds memory, which stays where it is. */
    void add(MemorySegment memory) {
      addComponent(true, Unpooled.wrappedBuffer(memory.asByteBuffer()));
    }

    @Override
    protected void deallocate() {
      super.deallocate();
      LENT.addAndGet(-bytes);
      reply.returned();
    }
  }
}
