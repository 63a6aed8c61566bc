package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.Executor;

/**
 * The threads on which calls live. Each connection belongs to one, and with a direct executor all
 * that happens to its calls happens there; answers from other threads go there first.
 */
final class EventLoops {

  private final EventLoopGroup group;

  /** For the group that the server's connections run on. */
  EventLoops(EventLoopGroup group) {
    this.group = group;
  }

  /** The loop whose thread this is. */
  Executor current() {
    for (EventExecutor loop : group) {
      if (loop.inEventLoop()) {
        return loop;
      }
    }
    throw new IllegalStateException(
        "a call came on " + Thread.currentThread() + ", expected one of the event loops");
  }
}
