package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.nereid.server.shared.ConnectionRefusals;
import io.nereid.server.shared.FailureLog;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ReserveDescriptor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands at the listening socket of gRPC: closes connections that are too many, or for which there
 * is no heap, before anything is made for them, and goes on after a pause when accepting fails.
 * What comes through here and proves to speak gRPC is counted once more by {@link ConnectionLimit},
 * which can tell a client why it is sent away. Used by the thread that accepts.
 */
final class AcceptHandler extends ChannelInboundHandlerAdapter {

  /** How long nothing is accepted after a failure. */
  private static final long PAUSE_MS = 50;

  private final int most;
  private final HeapBudget heap;
  private final Runnable ended;
  private final AtomicInteger open = new AtomicInteger();
  private final FailureLog failures = new FailureLog("gRPC");
  private final ReserveDescriptor reserve = new ReserveDescriptor();
  private boolean refusing; // with the descriptor that was kept for it

  /**
   * For one socket.
   *
   * @param ended is run when the socket is closed, whoever did it
   */
  AcceptHandler(GrpcLimits limits, HeapBudget heap, Runnable ended) {
    most = limits.connectionCount() + ConnectionRefusals.of(limits.connectionCount());
    this.heap = heap;
    this.ended = ended;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Channel connection = (Channel) message;
    if (refusing || !admit()) {
      connection.unsafe().closeForcibly(); // no event loop has it yet
      return;
    }
    connection.closeFuture().addListener(closed -> leave());
    context.fireChannelRead(message);
  }

  private boolean admit() {
    if (open.incrementAndGet() <= most && heap.takeForConnection(GrpcLimits.CONNECTION_BYTES)) {
      return true;
    }
    open.decrementAndGet();
    return false;
  }

  private void leave() {
    open.decrementAndGet();
    heap.giveBackOfConnection(GrpcLimits.CONNECTION_BYTES);
  }

  /** What was let go of for them is held again. */
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
    boolean again = refusing; // somebody else took the descriptor
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
}
