package io.nereid.server.wire;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Settings;

/**
 * Passes on what matters of the frames of a connection, and bounds what a client can have it keep.
 * Used by the connection's thread, and by whoever writes, with the connection's lock.
 */
final class Http2Frames extends Http2FrameAdapter {

  /** Answers to pings and settings that the client does not take. */
  private static final int MAX_CONTROL_FRAMES = 1000;

  private final Http2Codec.Listener listener;
  private int unwrittenAcks; // since all that was collected was written

  Http2Frames(Http2Codec.Listener listener) {
    this.listener = listener;
  }

  /** All that was collected is written, or will never be. */
  void allWritten() {
    unwrittenAcks = 0;
  }

  /**
   * The listener refuses streams that are too many. Netty would do so and then end the connection:
   * it takes the first DATA frame of a stream that it has refused for a mistake.
   */
  static void refuseNoStreams(Http2ConnectionHandler handler) {
    handler.connection().remote().maxActiveStreams(Integer.MAX_VALUE);
  }

  /** The codec has just taken the limit on streams from the settings. */
  @Override
  public void onSettingsAckRead(ChannelHandlerContext context) {
    refuseNoStreams((Http2ConnectionHandler) context.handler());
  }

  @Override
  public void onPingRead(ChannelHandlerContext context, long data) throws Http2Exception {
    acknowledged();
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings)
      throws Http2Exception {
    acknowledged();
  }

  private void acknowledged() throws Http2Exception {
    if (++unwrittenAcks > MAX_CONTROL_FRAMES) {
      throw Http2Exception.connectionError(
          Http2Error.ENHANCE_YOUR_CALM,
          "%s",
          "expected a client that reads the answers to its pings and settings, of which "
              + MAX_CONTROL_FRAMES
              + " wait");
    }
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last) {
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
    return padding + listener.data(stream, data.nioBuffer(), last);
  }
}
