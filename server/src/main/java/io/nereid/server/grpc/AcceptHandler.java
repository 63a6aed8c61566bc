package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelConfig;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelPipeline;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameListener;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.nereid.server.shared.ConnectionFailures;
import io.nereid.server.shared.ConnectionFailures.Reason;
import io.nereid.server.shared.ConnectionRefusals;
import io.nereid.server.shared.FailureLog;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ReserveDescriptor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Handles the listening socket of gRPC, on the thread that accepts. It closes connections beyond
 * the limit or the heap before allocating anything for them, and pauses when accepting fails.
 * {@link ConnectionLimit} counts again those that speak gRPC: it can tell a client the reason.
 *
 * <p>It also adds to every connection, before the first frame is read, our frame listener in front
 * of gRPC's own, and {@link ReplyBuffers} and {@link WholeFrames}, which make large messages
 * cheaper: gRPC's builder has no options for that.
 */
final class AcceptHandler extends ChannelInboundHandlerAdapter {

  /** The time for which nothing is accepted after a failure. */
  private static final long PAUSE_MS = 50;

  private final int most;
  private final Duration time;
  private final HeapBudget heap;
  private final ConnectionFailures counts;
  private final Runnable ended;

  /** Makes a connection's listener, which passes on the frames. */
  private final Function<Http2ConnectionHandler, Http2FrameListener> listener;

  private final AtomicInteger open = new AtomicInteger();
  private final FailureLog failures = new FailureLog("gRPC could not accept a connection");
  private final ReserveDescriptor reserve = new ReserveDescriptor();
  private boolean refusing; // true: connections are refused, with the descriptor reserved for that

  /**
   * Makes the handler of one socket.
   *
   * @param ended runs when the socket is closed, by any code
   * @param listener makes a connection's listener
   */
  AcceptHandler(
      GrpcLimits limits,
      HeapBudget heap,
      ConnectionFailures counts,
      Runnable ended,
      Function<Http2ConnectionHandler, Http2FrameListener> listener) {
    most = limits.connectionCount() + ConnectionRefusals.of(limits.connectionCount());
    time = limits.requestTime();
    this.heap = heap;
    this.counts = counts;
    this.ended = ended;
    this.listener = listener;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Channel connection = (Channel) message;
    Reason refusal = refusing ? Reason.ACCEPT : admit();
    if (refusal != null) {
      counts.add(refusal);
      connection.unsafe().closeForcibly(); // the connection has no event loop yet
      return;
    }
    connection.closeFuture().addListener(closed -> leave());
    connection.pipeline().addLast(new FirstBytes());
    context.fireChannelRead(message);
  }

  /** Counts a connection; null: it may stay. */
  private Reason admit() {
    boolean tooMany = open.incrementAndGet() > most;
    if (!tooMany && heap.takeForConnection(GrpcLimits.CONNECTION_BYTES)) {
      return null;
    }
    open.decrementAndGet();
    return tooMany ? Reason.LIMIT : Reason.MEMORY;
  }

  private void leave() {
    open.decrementAndGet();
    heap.giveBackOfConnection(GrpcLimits.CONNECTION_BYTES);
  }

  /** Opens the reserved descriptor again, which was released to refuse connections. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (refusing) {
      refusing = false;
      reserve.hold();
    }
    context.fireChannelReadComplete();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
    failures.log(failure);
    boolean again = refusing; // other code took the descriptor
    channelReadComplete(context);
    context.channel().config().setAutoRead(false);
    if (!again) {
      refusing = true;
      reserve.release();
      context.read();
    }
    context.executor().schedule(() -> resume(context), PAUSE_MS, TimeUnit.MILLISECONDS);
  }

  private void resume(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(true);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    reserve.close();
    ended.run();
    context.fireChannelInactive();
  }

  /**
   * Makes the handler of whole frames, and counts a connection whose client sends no HTTP/2
   * preface.
   */
  private WholeFrames wholeFrames(Http2ConnectionDecoder decoder, Channel connection) {
    AtomicBoolean counted = new AtomicBoolean(); // set by the connection's own thread
    connection
        .closeFuture()
        .addListener(closed -> {
          if (!decoder.prefaceReceived() && !counted.get()) {
            counts.add(Reason.PROTOCOL);
          }
        });
    return new WholeFrames(
        time,
        () -> {
          counted.set(true);
          counts.add(Reason.TIMEOUT);
        },
        stream -> endRefused(decoder.connection(), stream));
  }

  /**
   * Notes that a stream has ended if its head was refused before there was a stream. Frames that
   * follow on a stream that has ended fail alone; on one that never was, they end the connection.
   */
  private static void endRefused(Http2Connection connection, int stream) {
    if (connection.streamMayHaveExisted(stream)) {
      return;
    }
    Http2Connection.Endpoint<?> client = connection.remote();
    int most = client.maxActiveStreams();
    client.maxActiveStreams(Integer.MAX_VALUE); // the stream may be one too many
    try {
      client.createStream(stream, true).close();
    } catch (Http2Exception e) { // the connection ends, or no client may use this number
    } finally {
      client.maxActiveStreams(most);
    }
  }

  /**
   * Waits for a connection's first bytes, decrypted with TLS: by then gRPC's handler is in the
   * pipeline.
   */
  private final class FirstBytes extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      ChannelPipeline pipeline = context.pipeline();
      Http2ConnectionHandler frames = pipeline.get(Http2ConnectionHandler.class);
      ChannelHandlerContext tls = pipeline.context(SslHandler.class);
      if (frames != null) {
        frames.decoder().frameListener(listener.apply(frames));
        ChannelConfig config = context.channel().config();
        config.setAllocator(new ReplyBuffers(config.getAllocator()));
        pipeline.addBefore(
            pipeline.context(frames).name(),
            null,
            wholeFrames(frames.decoder(), context.channel()));
      } else if (tls != null) {
        pipeline.addAfter(tls.name(), null, new FirstBytes());
      }
      pipeline.remove(this);
      context.fireChannelRead(bytes);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof SslHandshakeCompletionEvent handshake) {
        if (!handshake.isSuccess()) {
          boolean late = handshake.cause() instanceof SslHandshakeTimeoutException;
          counts.add(late ? Reason.TIMEOUT : Reason.TLS);
        } else if (context.pipeline().get(SslHandler.class).applicationProtocol() == null) {
          counts.add(Reason.PROTOCOL);
        }
      }
      context.fireUserEventTriggered(event);
    }
  }
}
