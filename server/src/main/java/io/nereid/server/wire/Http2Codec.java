package io.nereid.server.wire;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.PooledByteBufAllocator;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Settings;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import io.nereid.server.shared.FrameLimit;
import io.nereid.server.shared.WholeFrames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The frames of one HTTP/2 connection: Netty's codec, which knows the states of streams, flow
 * control, HPACK and the known ways to exhaust a server, on bytes that others read and write. This
 * and {@link Http2Frames} are the only files of the HTTP frontend that know Netty, but for {@link
 * FrameLimit} and {@link WholeFrames}. To be used by one thread at a time, but for {@link
 * #readBuffer}, which is the reading thread's.
 */
public final class Http2Codec {

  /** Streams of a connection at a time; those of all connections have a limit of their own. */
  public static final int MAX_STREAMS = 128;

  /** Bytes of a body that a client may send ahead of whoever reads it. */
  private static final int STREAM_WINDOW_BYTES = 1 << 20;

  /** The part of that at which the client gets room again: rarely enough for most tensors. */
  private static final float REFILL_AT = 0.25f;

  /** The same limit for all bodies of a connection. */
  private static final int CONNECTION_WINDOW_BYTES = 4 << 20;

  /** What every connection begins with, by RFC 9113. */
  private static final int FIRST_WINDOW_BYTES = 65_535;

  /** Pieces of a head that carry next to nothing. */
  private static final int MAX_SMALL_CONTINUATIONS = 16;

  /** What arrives. */
  interface Listener {
    /** The head of a request, pseudo-fields first; or fields behind its body. */
    void headers(int stream, Iterable<Map.Entry<CharSequence, CharSequence>> fields, boolean last);

    /** Gives how many of the bytes need not be waited for. */
    int data(int stream, ByteBuffer data, boolean last);

    /** No frame of the stream comes or goes any more. */
    void closed(int stream);
  }

  /** Why a stream ends early. */
  enum Reset {
    NO_ERROR(Http2Error.NO_ERROR),
    INTERNAL_ERROR(Http2Error.INTERNAL_ERROR),
    REFUSED_STREAM(Http2Error.REFUSED_STREAM);

    private final Http2Error error;

    Reset(Http2Error error) {
      this.error = error;
    }
  }

  /** A part of a reply that was given to the codec. */
  static final class Sent {
    private final ChannelFuture future;

    private Sent(ChannelFuture future) {
      this.future = future;
    }

    /** Whether it is among what is to be written, as the client's windows allow, or failed. */
    boolean isDone() {
      return future.isDone();
    }

    boolean isSuccess() {
      return future.isSuccess();
    }

    void whenDone(Runnable action) {
      future.addListener(ignored -> action.run());
    }
  }

  private static final int READ_BYTES = 64 << 10;

  /** An embedded channel takes that much at a time, and as much again. */
  private static final int MOST_UNFLUSHED_BYTES = 32 << 10;

  private final List<ByteBuf> unwritten = new ArrayList<>();
  private boolean unflushed; // something was sent since the last flush
  private int unflushedBytes; // of bodies among that
  private final List<ByteBuf> batch = new ArrayList<>(); // of the thread that writes
  private ByteBuf incoming; // what is read next; null: nothing is being read
  private final Http2Frames frames;
  private final EmbeddedChannel channel;
  private final Handler handler;
  private final ChannelHandlerContext context;

  Http2Codec(WireLimits limits, Listener listener) throws IOException {
    frames = new Http2Frames(listener);
    handler = new Builder(limits, frames).build();
    handler
        .connection()
        .addListener(
            new Http2ConnectionAdapter() {
              @Override
              public void onStreamClosed(Http2Stream stream) {
                listener.closed(stream.id());
              }
            });
    ((DefaultHttp2LocalFlowController) handler.connection().local().flowController())
        .windowUpdateRatio(REFILL_AT);
    channel = new EmbeddedChannel(new WholeFrames(), handler);
    context = channel.pipeline().context(handler);
    try {
      handler
          .connection()
          .local()
          .flowController()
          .incrementWindowSize(
              handler.connection().connectionStream(),
              CONNECTION_WINDOW_BYTES - FIRST_WINDOW_BYTES);
    } catch (Http2Exception e) {
      throw new IOException(e);
    }
    flush();
  }

  /** Where what the client sends is to be read to; {@link #received} takes it. */
  ByteBuffer readBuffer() {
    incoming = PooledByteBufAllocator.DEFAULT.directBuffer(READ_BYTES, READ_BYTES);
    return incoming.nioBuffer(0, READ_BYTES);
  }

  /** Takes what was read; false: the connection is over. */
  boolean received(int count) {
    ByteBuf bytes = incoming.writerIndex(Math.max(0, count));
    incoming = null;
    if (count < 0 || !channel.isOpen()) {
      bytes.release();
      return false;
    }
    channel.writeInbound(bytes);
    return channel.isOpen();
  }

  /** Takes what was read before this was made. */
  boolean received(byte[] bytes, int from, int count) {
    readBuffer();
    incoming.writeBytes(bytes, from, count);
    return received(count);
  }

  /** Nothing more is read. */
  void endReading() {
    if (incoming != null) {
      incoming.release();
      incoming = null;
    }
  }

  /** Writes a reply's head; {@code fields} are names and values in turns. */
  void writeHead(int stream, int status, List<CharSequence> fields, boolean last) {
    CharSequence code = HttpResponseStatus.valueOf(status).codeAsText();
    Http2Headers headers = new DefaultHttp2Headers(false, 8).status(code);
    for (int i = 0; i < fields.size(); i += 2) {
      headers.add(fields.get(i), fields.get(i + 1));
    }
    unflushed = true;
    handler.encoder().writeHeaders(context, stream, headers, 0, last, channel.newPromise());
  }

  /**
   * Whether so many bytes of a stream are among what is to be written after the next flush, as the
   * client's windows are now.
   */
  boolean allows(int stream, int count) {
    Http2Stream of = handler.connection().stream(stream);
    Http2RemoteFlowController flow = handler.connection().remote().flowController();
    int all = unflushedBytes + count;
    return of != null
        && all <= MOST_UNFLUSHED_BYTES
        && count <= flow.windowSize(of)
        && all <= flow.windowSize(handler.connection().connectionStream());
  }

  /** Writes a part of a reply, whose bytes nobody changes any more. */
  Sent writeData(int stream, ByteBuffer bytes, boolean last) {
    unflushed = true;
    unflushedBytes += bytes.remaining();
    ByteBuf data = Unpooled.wrappedBuffer(bytes);
    return new Sent(
        handler.encoder().writeData(context, stream, data, 0, last, channel.newPromise()));
  }

  // ---- What is to be written to the socket -----------------------------------------------------

  /** Collects what the codec wants to have written since it was flushed; bytes of it. */
  int collect() {
    int count = 0;
    for (ByteBuf bytes; (bytes = channel.readOutbound()) != null; ) {
      count += bytes.readableBytes();
      unwritten.add(bytes);
    }
    return count;
  }

  /** Whether there is something to write, collected or only to be flushed. */
  boolean hasUnwritten() {
    return !unwritten.isEmpty() || unflushed;
  }

  /** Gives everything that was collected, to be written before {@link #releaseBatch}. */
  ByteBuffer[] nextBatch() {
    batch.addAll(unwritten);
    unwritten.clear();
    ByteBuffer[] all = new ByteBuffer[batch.size()];
    for (int i = 0; i < all.length; i++) {
      all[i] = batch.get(i).nioBuffer();
    }
    return all;
  }

  /** The batch was written, or never will be; how many bytes it had. */
  int releaseBatch() {
    frames.allWritten();
    return release(batch);
  }

  /** Nothing more is written. */
  void dropUnwritten() {
    release(unwritten);
  }

  private static int release(List<ByteBuf> buffers) {
    int count = 0;
    for (ByteBuf bytes : buffers) {
      count += bytes.readableBytes();
      bytes.release();
    }
    buffers.clear();
    return count;
  }

  // ---- Flow and ends ---------------------------------------------------------------------------

  /** What was written before is to be sent. */
  void flush() {
    unflushed = false;
    unflushedBytes = 0;
    handler.flush(context);
    channel.runPendingTasks();
  }

  /** The same, if a part of a reply was not sent yet. */
  void flushReplies() {
    if (unflushed) {
      flush();
    }
  }

  /** Bytes that came were used: the client may send as many more. */
  void consumed(int stream, int count) {
    Http2Stream of = handler.connection().stream(stream);
    if (of == null || count == 0) {
      return; // all of it counts as used when a stream ends
    }
    try {
      if (handler.connection().local().flowController().consumeBytes(of, count)) {
        flush(); // there is more room now, which the client is told
      }
    } catch (Http2Exception e) {
      handler.onError(context, true, e);
      flush();
    }
  }

  /** Whether the stream that has just begun is one more than there may be. */
  boolean hasTooMany() {
    return handler.connection().numActiveStreams() > MAX_STREAMS;
  }

  void reset(int stream, Reset why) {
    handler.resetStream(context, stream, why.error.code(), channel.newPromise());
    flush();
  }

  /** Tells the client to begin no more streams. */
  void goAway() {
    int last = handler.connection().remote().lastStreamCreated();
    handler.goAway(
        context, last, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER, channel.newPromise());
    flush();
  }

  /** Ends all streams; what is to be sent can still be had. */
  void close() {
    flushReplies();
    channel.close();
  }

  private static final class Handler extends Http2ConnectionHandler {

    Handler(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      super(decoder, encoder, settings, true);
      Http2Frames.refuseNoStreams(this);
    }

    /** Frames that were under way when their stream ended are no mistake, and get no answer. */
    @Override
    protected void onStreamError(
        ChannelHandlerContext context,
        boolean outbound,
        Throwable cause,
        Http2Exception.StreamException failure) {
      boolean late =
          failure.error() == Http2Error.STREAM_CLOSED
              && connection().stream(failure.streamId()) == null;
      if (!late) {
        super.onStreamError(context, outbound, cause, failure);
      }
    }
  }

  private static final class Builder
      extends AbstractHttp2ConnectionHandlerBuilder<Handler, Builder> {

    Builder(WireLimits limits, Http2Frames frames) {
      server(true);
      frameListener(new FrameLimit(frames, true));
      initialSettings(
          new Http2Settings()
              .maxConcurrentStreams(MAX_STREAMS)
              .initialWindowSize(STREAM_WINDOW_BYTES)
              .maxHeaderListSize(limits.headBytes()));
      validateHeaders(true);
      decoupleCloseAndGoAway(true);
      decoderEnforceMaxConsecutiveEmptyDataFrames(0); // FrameLimit does
      decoderEnforceMaxRstFramesPerWindow(0, 0); // as well
      decoderEnforceMaxSmallContinuationFrames(MAX_SMALL_CONTINUATIONS);
      encoderEnforceMaxRstFramesPerWindow(FrameLimit.MAX_FRAMES, FrameLimit.WINDOW_SECONDS);
      encoderEnforceMaxQueuedControlFrames(0); // Http2Frames does: an embedded channel queues none
    }

    @Override
    protected Handler build() {
      return super.build();
    }

    @Override
    protected Handler build(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      return new Handler(decoder, encoder, settings);
    }
  }
}
