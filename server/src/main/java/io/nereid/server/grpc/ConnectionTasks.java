package io.nereid.server.grpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.Attributes;
import io.grpc.ServerCall;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs, on virtual threads, tasks of one connection that must not block its event loop: a few at a
 * time, each yielding its carrier afterwards, so that a client that sends many calls does not delay
 * others. The loop adds tasks; their threads take the next ones.
 */
final class ConnectionTasks {

  /** More than one, because a load may take minutes and must not delay the client's other calls. */
  private static final int MOST_AT_A_TIME = 2;

  private static final Attributes.Key<ConnectionTasks> KEY = Attributes.Key.create("tasks");

  @GuardedBy("this")
  private final Queue<Runnable> waiting = new ArrayDeque<>();

  @GuardedBy("this")
  private int running;

  /** The attributes of a connection, with its tasks. */
  static Attributes in(Attributes attributes) {
    return attributes.toBuilder().set(KEY, new ConnectionTasks()).build();
  }

  /** The tasks of the connection that a call came through. */
  static ConnectionTasks of(ServerCall<?, ?> call) {
    return call.getAttributes().get(KEY);
  }

  /** Runs a task, which must not throw, when there is room for it. */
  void run(Runnable task) {
    synchronized (this) {
      if (running == MOST_AT_A_TIME) {
        waiting.add(task);
        return;
      }
      running++;
    }
    Thread.ofVirtual().name("nrd-grpc-call").start(() -> runAll(task));
  }

  private void runAll(Runnable first) {
    first.run();
    for (Runnable task = next(); task != null; task = next()) {
      LockSupport.parkNanos(1); // a yield would pass over the threads that input has woken
      task.run();
    }
  }

  private synchronized Runnable next() {
    Runnable task = waiting.poll();
    if (task == null) {
      running--;
    }
    return task;
  }
}
