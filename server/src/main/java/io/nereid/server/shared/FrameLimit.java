package io.nereid.server.shared;

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
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Ends a connection of HTTP/2 whose client floods the server with resets, or with frames that carry
 * nothing: empty DATA, settings, pings, priorities, frames of unknown types. Each frame that
 * carries something makes up for one of the latter. Resets that the server sends, for mistakes of
 * the client, are counted where they are written. For one connection, whose thread calls it.
 */
public final class FrameLimit extends Http2FrameListenerDecorator {

  /** It has a line for every frame that comes too late. Held here: loggers are kept weakly. */
  private static final Logger CODEC_LOG =
      Logger.getLogger("io.grpc.netty.shaded.io.netty.handler.codec.http2");

  /** This property has Netty look for buffers that nobody gives back. */
  private static final String LEAK_DETECTION = "io.grpc.netty.shaded.io.netty.leakDetection.level";

  static {
    CODEC_LOG.setLevel(Level.WARNING);
    if (System.getProperty(LEAK_DETECTION) == null) {
      // By default it takes two stack traces for one in 128 buffers: a large request has as many.
      ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }
  }

  /** DATA frames in a row that are empty and do not end their stream. */
  private static final int MAX_EMPTY_DATA = 10;

  /** Resets, and other frames that carry nothing, within the seconds below. */
  public static final int MAX_FRAMES = 400;

  /** How long frames are counted before the count begins anew. */
  public static final int WINDOW_SECONDS = 30;

  private final boolean countsPings;
  private int emptyDataCount;
  private int idleCount;
  private int resetCount;
  private long windowStartNs = System.nanoTime();

  /**
   * In front of a listener.
   *
   * @param countsPings whether pings count; false where somebody else limits them
   */
  public FrameLimit(Http2FrameListener listener, boolean countsPings) {
    super(listener);
    this.countsPings = countsPings;
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean last)
      throws Http2Exception {
    if (last || data.isReadable()) {
      emptyDataCount = 0;
      carried();
    } else if (++emptyDataCount > MAX_EMPTY_DATA) {
      throw flood(MAX_EMPTY_DATA + " empty DATA frames in a row");
    }
    return super.onDataRead(context, stream, data, padding, last);
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last)
      throws Http2Exception {
    carried();
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
    carried();
    super.onHeadersRead(context, stream, headers, dependency, weight, exclusive, padding, last);
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext context, int stream, long code)
      throws Http2Exception {
    beginWindow();
    if (++resetCount > MAX_FRAMES) {
      throw flood(MAX_FRAMES + " resets within " + WINDOW_SECONDS + " s");
    }
    super.onRstStreamRead(context, stream, code);
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings)
      throws Http2Exception {
    idle();
    super.onSettingsRead(context, settings);
  }

  @Override
  public void onSettingsAckRead(ChannelHandlerContext context) throws Http2Exception {
    idle();
    super.onSettingsAckRead(context);
  }

  @Override
  public void onPingRead(ChannelHandlerContext context, long data) throws Http2Exception {
    if (countsPings) {
      idle();
    }
    super.onPingRead(context, data);
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext context, long data) throws Http2Exception {
    idle();
    super.onPingAckRead(context, data);
  }

  @Override
  public void onPriorityRead(
      ChannelHandlerContext context, int stream, int dependency, short weight, boolean exclusive)
      throws Http2Exception {
    idle();
    super.onPriorityRead(context, stream, dependency, weight, exclusive);
  }

  @Override
  public void onGoAwayRead(ChannelHandlerContext context, int last, long code, ByteBuf why)
      throws Http2Exception {
    idle();
    super.onGoAwayRead(context, last, code, why);
  }

  @Override
  public void onUnknownFrame(
      ChannelHandlerContext context, byte type, int stream, Http2Flags flags, ByteBuf payload)
      throws Http2Exception {
    idle();
    super.onUnknownFrame(context, type, stream, flags, payload);
  }

  private void carried() {
    if (idleCount > 0) {
      idleCount--;
    }
  }

  private void idle() throws Http2Exception {
    beginWindow();
    if (++idleCount > MAX_FRAMES) {
      throw flood(MAX_FRAMES + " frames without content within " + WINDOW_SECONDS + " s");
    }
  }

  private void beginWindow() {
    long nowNs = System.nanoTime();
    if (nowNs - windowStartNs > TimeUnit.SECONDS.toNanos(WINDOW_SECONDS)) {
      windowStartNs = nowNs;
      idleCount = 0;
      resetCount = 0;
    }
  }

  private static Http2Exception flood(String most) {
    return Http2Exception.connectionError(
        Http2Error.ENHANCE_YOUR_CALM, "%s", "expected at most " + most + ", got more");
  }
}
