package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Flags;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameListener;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Settings;
import io.grpc.netty.shaded.io.netty.util.ResourceLeakDetector;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Ends a connection whose client floods the server with resets, or with frames without content
 * ({@link FrameCount}). Pings are limited elsewhere, and resets that the server sends for mistakes
 * of the client are counted where they are written. For one connection, whose event loop calls it.
 */
final class FrameLimit extends Http2FrameListenerDecorator {

  /**
   * Netty's logger, which has a line for every late frame. This field keeps it from being
   * collected.
   */
  private static final Logger CODEC_LOG =
      Logger.getLogger("io.grpc.netty.shaded.io.netty.handler.codec.http2");

  /** The property that makes Netty look for leaked buffers. */
  private static final String LEAK_DETECTION = "io.grpc.netty.shaded.io.netty.leakDetection.level";

  static {
    CODEC_LOG.setLevel(Level.WARNING);
    if (System.getProperty(LEAK_DETECTION) == null) {
      // Leak detection takes two stack traces for one in 128 buffers: a large request has as many.
      ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }
  }

  private final FrameCount count = new FrameCount();

  /** Passes frames on to a listener. */
  FrameLimit(Http2FrameListener listener) {
    super(listener);
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean last)
      throws Http2Exception {
    refuse(count.data(!last && !data.isReadable()));
    return super.onDataRead(context, stream, data, padding, last);
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last)
      throws Http2Exception {
    head(last);
    super.onHeadersRead(context, stream, headers, padding, last);
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
      boolean last)
      throws Http2Exception {
    head(last);
    super.onHeadersRead(context, stream, headers, dependency, weight, exclusive, padding, last);
  }

  /** Counts a call; one that ends with its head has no content. */
  private void head(boolean last) throws Http2Exception {
    if (last) {
      refuse(count.idle());
    } else {
      count.carried();
    }
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext context, int stream, long code)
      throws Http2Exception {
    refuse(count.reset());
    super.onRstStreamRead(context, stream, code);
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings)
      throws Http2Exception {
    refuse(count.idle());
    super.onSettingsRead(context, settings);
  }

  @Override
  public void onSettingsAckRead(ChannelHandlerContext context) throws Http2Exception {
    refuse(count.idle());
    super.onSettingsAckRead(context);
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext context, long data) throws Http2Exception {
    refuse(count.idle());
    super.onPingAckRead(context, data);
  }

  @Override
  public void onPriorityRead(
      ChannelHandlerContext context, int stream, int dependency, short weight, boolean exclusive)
      throws Http2Exception {
    refuse(count.idle());
    super.onPriorityRead(context, stream, dependency, weight, exclusive);
  }

  @Override
  public void onGoAwayRead(ChannelHandlerContext context, int last, long code, ByteBuf why)
      throws Http2Exception {
    refuse(count.idle());
    super.onGoAwayRead(context, last, code, why);
  }

  @Override
  public void onUnknownFrame(
      ChannelHandlerContext context, byte type, int stream, Http2Flags flags, ByteBuf payload)
      throws Http2Exception {
    refuse(count.idle());
    super.onUnknownFrame(context, type, stream, flags, payload);
  }

  private static void refuse(String expected) throws Http2Exception {
    if (expected != null) {
      throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, "%s", expected);
    }
  }
}
