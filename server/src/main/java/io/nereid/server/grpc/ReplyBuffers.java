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
 * The allocator of a gRPC connection: the transport's own, except for reading large messages and
 * for large replies. For a reply, grpc-java asks for a buffer of the message's size and copies into
 * it. A large reply instead gets a buffer for the bytes before the outputs, to which the outputs
 * are added without a copy.
 */
final class ReplyBuffers extends AbstractByteBufAllocator {

  /** Replies with fewer bytes are copied, which is cheaper. */
  static final int LEAST_BYTES = 64 << 10;

  /** The prefix of each message: a flag for compression and the length. */
  private static final int PREFIX_BYTES = 5;

  /** The longest buffer that grpc-java asks for. */
  private static final int LONGEST_ASKED = 1 << 20;

  /** A client with no more untaken bytes than this always gets a reply. */
  private static final int FEW_BYTES = 16 << 10;

  /** Most bytes that all replies together lend; clients may be slow to take them. */
  private static final long MOST_LENT = PlatformDependent.maxDirectMemory() / 2;

  private static final AtomicLong LENT = new AtomicLong();

  /** The reply that this thread is handing to grpc-java, until it asks for a buffer. */
  private static final FastThreadLocal<OutgoingReply> SENDING = new FastThreadLocal<>();

  /**
   * The allocator for reading large messages. Netty keeps a page or more for each size of small
   * buffer ever used, and the whole chunk around it: with large buffers in between, nearly all
   * chunks of 2 MiB stayed for good after load. Free chunks of 8 MiB are released. Those of 4 MiB
   * were released too often under load, which cost 5 to 10 % more processor time a request; those
   * of 16 MiB left up to as much behind.
   */
  private static final PooledByteBufAllocator LARGE =
      new PooledByteBufAllocator(
          true, 0, Runtime.getRuntime().availableProcessors(), 8192, 10, 0, 0, false);

  /** Buffers of this size are not small to Netty. */
  private static final int LARGE_BYTES = 32 << 10;

  private final ByteBufAllocator usual;

  /** Replaces a connection's usual allocator. */
  ReplyBuffers(ByteBufAllocator usual) {
    super(true);
    this.usual = usual;
  }

  /** The bytes of replies, lent or copied, that clients have not taken. */
  static SharedLimit limit() {
    return new SharedLimit(PlatformDependent.maxDirectMemory() / 4 * 3, FEW_BYTES);
  }

  /** Hands a reply to grpc-java; the caller closes the reply afterwards. */
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
    // A compressing grpc-java asks for another size.
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

  /** A buffer of a reply whose outputs are not copied; they are returned when it was sent. */
  static final class Lent extends CompositeByteBuf {
    private final OutgoingReply reply;
    private final int bytes;

    private Lent(ByteBufAllocator allocator, OutgoingReply reply, ByteBuf front) {
      super(allocator, true, 2 * reply.contentCount() + 1);
      this.reply = reply;
      bytes = reply.available();
      addComponent(false, front); // overwritten later
    }

    /** Adds a copy of these bytes. */
    void add(byte[] array, int from, int count) {
      addComponent(true, alloc().directBuffer(count, count).writeBytes(array, from, count));
    }

    /** Adds memory without a copy. */
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
