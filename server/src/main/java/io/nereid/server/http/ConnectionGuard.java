package io.nereid.server.http;

import io.nereid.InferRequest;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where a connection is in its life, and what the watch does about it: it ends waits that take too
 * long, and finds out whether the client is still there while its request waits or runs. The
 * connection's own thread says what it is doing; everything else comes from the watch.
 */
final class ConnectionGuard {

  /** How long a request runs before the client is looked after. Most are answered by then. */
  private static final long PROBE_AFTER_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** How long a closed connection is read from, so that the client gets the last reply. */
  private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(2);

  private static final int IDLE = 0;
  private static final int READING = 1;
  private static final int RUNNING = 2;
  private static final int PROBING = 3; // as RUNNING, with the watch at the input
  private static final int WRITING = 4;
  private static final int CLOSED = 5;

  private final SocketChannel channel;
  private final ConnectionInput input;
  private final long requestTimeNs;
  private final long idleTimeNs;

  private final AtomicInteger phase = new AtomicInteger(READING);
  private volatile long deadlineNs;
  private volatile InferRequest running;
  private volatile boolean timedOut;
  private volatile boolean clientGone;

  ConnectionGuard(SocketChannel channel, ConnectionInput input, HttpLimits limits) {
    this.channel = channel;
    this.input = input;
    requestTimeNs = limits.requestTime().toNanos();
    idleTimeNs = limits.idleTime().toNanos();
    deadlineNs = System.nanoTime() + requestTimeNs;
  }

  // ---- By the connection's thread --------------------------------------------------------------

  /** Waits for the next request. */
  void idle() {
    enter(IDLE, idleTimeNs);
  }

  /** Reads a request. */
  void reading() {
    enter(READING, requestTimeNs);
  }

  /** Waits for the answer to a request, and does not touch the input meanwhile. */
  void running(InferRequest request) {
    running = request;
    enter(RUNNING, PROBE_AFTER_NS);
  }

  /** Has an answer, or a failure; the input is its own again. */
  void answered() {
    while (!phase.compareAndSet(RUNNING, READING)) {
      if (phase.get() != PROBING) {
        break;
      }
      Thread.yield(); // the watch is done in a few microseconds
    }
    running = null;
  }

  /** Writes a reply. */
  void writing() {
    enter(WRITING, requestTimeNs);
  }

  /** Reads what a client still sends before the connection is closed. */
  void lingering() {
    enter(READING, LINGER_NS);
  }

  private void enter(int next, long timeNs) {
    deadlineNs = System.nanoTime() + timeNs;
    phase.set(next);
  }

  /** Whether the input ended because the client took too long. */
  boolean timedOut() {
    return timedOut;
  }

  /** Whether the client went away while its request ran. */
  boolean clientGone() {
    return clientGone;
  }

  /** Ends the connection; from any thread. */
  void close() {
    phase.set(CLOSED);
    closeChannel();
  }

  private void closeChannel() {
    try {
      channel.close();
    } catch (IOException e) {
      // It is of no use any more either way.
    }
  }

  // ---- By the watch ----------------------------------------------------------------------------

  /** Whether a request has begun and is not answered. */
  boolean isBusy() {
    int now = phase.get();
    return now != IDLE && now != CLOSED;
  }

  /** Looks after the connection. */
  void tick(long nowNs) {
    if (nowNs - deadlineNs < 0) {
      return;
    }
    switch (phase.get()) {
      case IDLE -> endInput();
      case READING -> {
        timedOut = true;
        endInput();
      }
      case RUNNING -> probe();
      case WRITING -> closeChannel();
      default -> {}
    }
  }

  /** Whoever waits for input sees its end, and can still answer. */
  private void endInput() {
    try {
      channel.shutdownInput();
    } catch (IOException e) {
      closeChannel();
    }
  }

  private void probe() {
    InferRequest request = running;
    if (clientGone || request == null || !phase.compareAndSet(RUNNING, PROBING)) {
      return;
    }
    try {
      clientGone = !isClientThere();
    } finally {
      phase.set(RUNNING);
    }
    if (clientGone) {
      request.cancel();
    }
  }

  /** What arrived meanwhile is kept for later. A full buffer tells nothing: the client sent it. */
  private boolean isClientThere() {
    if (input.isFull()) {
      return true;
    }
    try {
      channel.configureBlocking(false);
      int count = input.read();
      channel.configureBlocking(true);
      return count >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Gives up on whatever is under way. */
  void abort() {
    InferRequest request = running;
    if (request != null) {
      request.cancel();
    }
    close();
  }
}
