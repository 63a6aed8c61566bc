package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelPipeline;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameListener;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import java.util.function.Function;

/**
 * Puts a listener of ours in front of gRPC's own on every connection, before its first frame is
 * read: gRPC's builder has no option for that. It is a handler of the socket that listens, which
 * every connection passes that is accepted.
 */
final class FrameListeners extends ChannelInboundHandlerAdapter {

  /** Makes a connection's listener, which passes on what it hears. */
  private final Function<Http2ConnectionHandler, Http2FrameListener> listener;

  FrameListeners(Function<Http2ConnectionHandler, Http2FrameListener> listener) {
    this.listener = listener;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    ((Channel) accepted).pipeline().addLast(new FirstBytes());
    context.fireChannelRead(accepted);
  }

  /**
   * Waits for a connection's first bytes, or with TLS the first that are deciphered: gRPC's handler
   * is there then.
   */
  private final class FirstBytes extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      ChannelPipeline pipeline = context.pipeline();
      Http2ConnectionHandler frames = pipeline.get(Http2ConnectionHandler.class);
      ChannelHandlerContext tls = pipeline.context(SslHandler.class);
      if (frames != null) {
        frames.decoder().frameListener(listener.apply(frames));
      } else if (tls != null) {
        pipeline.addAfter(tls.name(), null, new FirstBytes());
      }
      pipeline.remove(this);
      context.fireChannelRead(bytes);
    }
  }
}
