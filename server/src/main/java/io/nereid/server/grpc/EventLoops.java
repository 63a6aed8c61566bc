package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.channel.ChannelHandler;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.netty.shaded.io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that accept gRPC's connections and serve them, under names of ours. The frontend owns
 * them and ends them when it is closed.
 */
final class EventLoops implements AutoCloseable {

  private static final int CLOSE_SECONDS = 2;

  private final boolean epoll = Epoll.isAvailable();
  private final EventLoopGroup acceptor = group(1, "nrd-grpc-accept");
  private final EventLoopGroup workers =
      group(Runtime.getRuntime().availableProcessors(), "nrd-grpc-");

  private EventLoopGroup group(int count, String name) {
    IoHandlerFactory handlers = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    return new MultiThreadIoEventLoopGroup(count, new Names(name), handlers);
  }

  EventLoopGroup acceptor() {
    return acceptor;
  }

  EventLoopGroup workers() {
    return workers;
  }

  /** Makes a listening socket; {@code first} handles each connection first. */
  ServerChannel newServerChannel(ChannelHandler first) {
    ServerChannel channel = epoll ? new EpollServerSocketChannel() : new NioServerSocketChannel();
    channel.pipeline().addFirst(first);
    return channel;
  }

  /** The event loop of this thread, which runs given tasks after the current one. */
  Executor current() {
    for (EventExecutor loop : workers) {
      if (loop.inEventLoop()) {
        return loop;
      }
    }
    throw new IllegalStateException(
        "a call came on " + Thread.currentThread() + ", expected one of the event loops");
  }

  @Override
  public void close() {
    acceptor.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
    workers
        .shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
  }

  /** Netty's threads, which have its thread locals in an array, by other names. */
  private static final class Names extends DefaultThreadFactory {
    private final String name;
    private final AtomicInteger next = new AtomicInteger();

    /** A name that ends in a dash is followed by a number. */
    Names(String name) {
      super(name, true);
      this.name = name;
    }

    @Override
    protected Thread newThread(Runnable run, String unused) {
      return super.newThread(run, name.endsWith("-") ? name + next.getAndIncrement() : name);
    }
  }
}
