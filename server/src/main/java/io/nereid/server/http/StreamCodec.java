package io.nereid.server.http;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Settings;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import io.nereid.server.shared.FrameLimit;
import java.io.IOException;

/**
 * The frames of one HTTP/2 connection: Netty's codec, which knows the states of streams, flow
 * control, HPACK and the known ways to exhaust a server, on bytes that others read and write. To be
 * used by one thread at a time.
 */
final class StreamCodec {

  /** Streams of a connection at a time; those of all connections have a limit of their own. */
  static final int MAX_STREAMS = 128;

  /** Bytes of a body that a client may send ahead of whoever reads it. */
  private static final int STREAM_WINDOW_BYTES = 1 << 20;

  /** As above, of all bodies of a connection. */
  private static final int CONNECTION_WINDOW_BYTES = 4 << 20;

  /** What every connection begins with, by RFC 9113. */
  private static final int FIRST_WINDOW_BYTES = 65_535;

  /** Pieces of a head that carry next to nothing. */
  private static final int MAX_SMALL_CONTINUATIONS = 16;

  /** Answers to pings and settings that the client does not take. */
  private static final int MAX_CONTROL_FRAMES = 1000;

  /** What arrives. */
  interface Listener {
    void headers(int stream, Http2Headers headers, boolean last);

    /** Gives how many of the bytes need not be waited for. */
    int data(int stream, ByteBuf data, boolean last);

    /** No frame of the stream comes or goes any more. */
    void closed(int stream);
  }

  private final EmbeddedChannel channel;
  private final Handler handler;
  private final ChannelHandlerContext context;

  StreamCodec(HttpLimits limits, Listener listener) throws IOException {
    handler = new Builder(limits, new Frames(listener)).build();
    handler
        .connection()
        .addListener(
            new Http2ConnectionAdapter() {
              @Override
              public void onStreamClosed(Http2Stream stream) {
                listener.closed(stream.id());
              }
            });
    channel = new EmbeddedChannel(handler);
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

  /** Takes what a client sent; false: the connection is over. Owns the bytes. */
  boolean take(ByteBuf bytes) {
    if (!channel.isOpen()) {
      bytes.release();
      return false;
    }
    channel.writeInbound(bytes);
    return channel.isOpen();
  }

  /** Next of what is to be sent to the client, which the caller releases; null: nothing. */
  ByteBuf next() {
    return channel.readOutbound();
  }

  ChannelFuture writeHead(int stream, Http2Headers headers, boolean last) {
    return handler.encoder().writeHeaders(context, stream, headers, 0, last, channel.newPromise());
  }

  /** The future is done when the bytes are what is next, as the client's windows allow. */
  ChannelFuture writeData(int stream, byte[] bytes, boolean last) {
    ByteBuf data = Unpooled.wrappedBuffer(bytes);
    return handler.encoder().writeData(context, stream, data, 0, last, channel.newPromise());
  }

  /** What was written before is to be sent. */
  void flush() {
    handler.flush(context);
    channel.runPendingTasks();
  }

  /** Bytes that came were used: the client may send as many more. */
  void consumed(int stream, int count) {
    Http2Stream of = handler.connection().stream(stream);
    if (of == null || count == 0) {
      return; // all of it counts as used when a stream ends
    }
    try {
      handler.connection().local().flowController().consumeBytes(of, count);
    } catch (Http2Exception e) {
      handler.onError(context, true, e);
    }
    flush();
  }

  void reset(int stream, Http2Error why) {
    handler.resetStream(context, stream, why.code(), channel.newPromise());
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
    channel.close();
  }

  /** Passes on what of the frames matters here. */
  private static final class Frames extends Http2FrameAdapter {

    private final Listener listener;

    Frames(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext context,
        int stream,
        Http2Headers headers,
        int padding,
        boolean last) {
      listener.headers(stream, headers, last);
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext context,
        int stream,
        Http2Headers headers,
        int dependency,
        short weight,
        boolean exclusive,
        int padding,
        boolean last) {
      listener.headers(stream, headers, last);
    }

    @Override
    public int onDataRead(
        ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean last) {
      return padding + listener.data(stream, data, last);
    }
  }

  private static final class Handler extends Http2ConnectionHandler {

    Handler(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      super(decoder, encoder, settings, true);
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

    Builder(HttpLimits limits, Frames frames) {
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
      encoderEnforceMaxQueuedControlFrames(MAX_CONTROL_FRAMES);
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
