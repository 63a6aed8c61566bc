package io.nereid.server.wire;

import io.nereid.server.shared.ConnectionRefusals;

/**
 * A connection's place among those of its port, and what it holds of the heap. The thread that
 * accepts makes it and asks whether there is room; the connection's own thread does the rest.
 */
final class PortPlace {

  private final EventContext context;
  private final ConnectionGuard guard;
  private final int number; // among the connections that there were when it came
  private boolean holdsHeap;
  private boolean isServed;

  /** Has the connection count from now on. */
  PortPlace(EventContext context, ConnectionGuard guard) {
    this.context = context;
    this.guard = guard;
    number = context.watch().add(guard);
  }

  /** Whether there is room for it, be it only to tell its client that there are too many. */
  boolean admit() {
    int most = context.limits().connectionCount();
    holdsHeap =
        number <= most + ConnectionRefusals.of(most)
            && context.heap().takeForConnection(context.connectionBytes());
    return holdsHeap;
  }

  /** Its client has said something: whether it is one of those that are served. */
  boolean serve() {
    isServed = context.served().incrementAndGet() <= context.limits().connectionCount();
    if (!isServed) {
      context.served().decrementAndGet();
    }
    return isServed;
  }

  boolean isServed() {
    return isServed;
  }

  /** Why it is not served. */
  String refusal() {
    return "expected at most "
        + context.limits().connectionCount()
        + " connections at a time"
        + context.connectionHint();
  }

  /** It is over. */
  void leave() {
    context.watch().remove(guard);
    if (isServed) {
      context.served().decrementAndGet();
    }
    if (holdsHeap) {
      context.heap().giveBackOfConnection(context.connectionBytes());
    }
  }
}
