package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * Precedes a decoder of HTTP/2 and passes on only whole frames, those of one read together up to
 * each head; a frame that comes in several reads is put together here. A decoder that waits for the
 * rest of a frame would copy all further bytes behind it, so each byte of a large body once more. A
 * frame, or a head of several frames, must be complete in time. For one connection, whose thread
 * calls it.
 */
final class WholeFrames extends ChannelInboundHandlerAdapter {

  private static final int PREFACE_BYTES = 24;
  private static final int HEADER_BYTES = 9;

  /**
   * The longest frame, behind its header. The decoder ends the connection for one that is longer.
   */
  private static final int MOST_BYTES = 16 << 10;

  private static final int TYPE_AT = 3;
  private static final int FLAGS_AT = 4;
  private static final int STREAM_AT = 5;
  private static final int HEADERS = 1;
  private static final int CONTINUATION = 9;
  private static final int END_HEADERS = 4;

  private final long timeNs;
  private final Runnable late;
  private final IntConsumer headRead;
  private boolean headOpen; // the next frame of a head is still to come
  private long sinceNs; // when the incomplete frame or head began
  private boolean watching;

  private int prefaceLeft = PREFACE_BYTES; // bytes of the client's preface still to come
  private ByteBuf begun; // the beginning of a frame; null: no frame is incomplete

  /**
   * Makes the handler of a connection.
   *
   * @param late runs when a frame is not complete within the time
   * @param headRead takes the stream of each head that the decoder was given, before what follows
   */
  WholeFrames(Duration time, Runnable late, IntConsumer headRead) {
    timeNs = time.toNanos();
    this.late = late;
    this.headRead = headRead;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    boolean wasWhole = isWhole();
    boolean passedOn = false;
    try {
      if (begun != null && fillUp(bytes)) {
        ByteBuf frame = begun;
        begun = null;
        wasWhole = true;
        passOn(context, frame, endedHead(frame, 0));
      }
      int end = endOfWhole(context, bytes);
      if (end < bytes.writerIndex()) {
        begin(context, bytes, end);
        bytes.writerIndex(end);
      }
      if (wasWhole && !isWhole()) {
        sinceNs = System.nanoTime();
        watch(context);
      }
      passedOn = bytes.isReadable();
      if (passedOn) {
        context.fireChannelRead(bytes);
      }
    } catch (RuntimeException | Error e) { // there is no memory for a frame
      context.close();
      throw e;
    } finally {
      if (!passedOn) {
        bytes.release();
      }
    }
  }

  /** Adds bytes to the frame that has begun; true: it is complete now. */
  private boolean fillUp(ByteBuf bytes) {
    move(bytes, HEADER_BYTES - begun.readableBytes());
    if (begun.readableBytes() < HEADER_BYTES) {
      return false;
    }
    int length = begun.getUnsignedMedium(0);
    if (length > MOST_BYTES) {
      return true; // too long a frame is passed on incomplete
    }
    begun.ensureWritable(HEADER_BYTES + length - begun.readableBytes());
    move(bytes, HEADER_BYTES + length - begun.readableBytes());
    return begun.readableBytes() == HEADER_BYTES + length;
  }

  private void move(ByteBuf bytes, int most) {
    begun.writeBytes(bytes, Math.max(0, Math.min(most, bytes.readableBytes())));
  }

  /**
   * Passes on all frames up to the last head, and returns the end of the last frame that is
   * complete, or too long to wait for.
   */
  private int endOfWhole(ChannelHandlerContext context, ByteBuf bytes) {
    int end = bytes.writerIndex();
    int preface = Math.min(prefaceLeft, bytes.readableBytes());
    int at = bytes.readerIndex() + preface;
    prefaceLeft -= preface;
    while (end - at >= HEADER_BYTES) {
      int length = bytes.getUnsignedMedium(at);
      if (length > MOST_BYTES) {
        return end;
      }
      if (length > end - at - HEADER_BYTES) {
        return at;
      }
      int head = endedHead(bytes, at);
      at += HEADER_BYTES + length;
      if (head > 0) {
        passOn(context, bytes.readRetainedSlice(at - bytes.readerIndex()), head);
      }
    }
    return at;
  }

  /** Keeps the beginning of a frame, in memory for the whole frame. */
  private void begin(ChannelHandlerContext context, ByteBuf bytes, int from) {
    int count = bytes.writerIndex() - from;
    int length = count < HEADER_BYTES ? 0 : bytes.getUnsignedMedium(from);
    begun = context.alloc().directBuffer(HEADER_BYTES + length);
    begun.writeBytes(bytes, from, count);
  }

  private void passOn(ChannelHandlerContext context, ByteBuf frames, int head) {
    context.fireChannelRead(frames);
    if (head > 0) {
      headRead.accept(head);
    }
  }

  /** The stream of the head that ends with a frame; 0: none. Notes whether one goes on. */
  private int endedHead(ByteBuf bytes, int at) {
    int type = bytes.getByte(at + TYPE_AT);
    if (type != HEADERS && type != CONTINUATION) {
      return 0;
    }
    headOpen = (bytes.getByte(at + FLAGS_AT) & END_HEADERS) == 0;
    return headOpen ? 0 : bytes.getInt(at + STREAM_AT) & Integer.MAX_VALUE;
  }

  // ---- Time ------------------------------------------------------------------------------------

  private boolean isWhole() {
    return begun == null && !headOpen;
  }

  private void watch(ChannelHandlerContext context) {
    if (!watching) {
      watching = true;
      context.executor().schedule(() -> look(context), timeNs / 4 + 1, TimeUnit.NANOSECONDS);
    }
  }

  private void look(ChannelHandlerContext context) {
    watching = false;
    if (isWhole() || context.isRemoved()) {
      return;
    }
    if (System.nanoTime() - sinceNs > timeNs) {
      late.run();
      context.close();
    } else {
      watch(context);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (begun != null) {
      begun.release();
      begun = null;
    }
  }
}
