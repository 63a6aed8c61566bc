package io.nereid.server.http.seam;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The phase of a connection's life, and its limits: the watch ends waits that take too long, and
 * finds out whether the client is still there while its request waits or runs. The connection's own
 * thread reports its phase; the watch calls the rest.
 */
final class ConnectionGuard {

  /** The time that a request runs before its client is probed: most are answered by then. */
  private static final long PROBE_AFTER_US = TimeUnit.MILLISECONDS.toMicros(20);

  /**
   * The time that a reply in parts rests before the client is probed; writing the next part probes
   * it too.
   */
  private static final long REST_US = TimeUnit.SECONDS.toMicros(5);

  /** The time for which a closed connection is read, so that the client gets the last reply. */
  private static final long LINGER_US = TimeUnit.SECONDS.toMicros(2);

  private static final long NEVER_US = Long.MAX_VALUE >> 3;

  private static final int IDLE = 0;
  private static final int READING = 1;
  private static final int RUNNING = 2;
  private static final int PROBING = 3; // as RUNNING, while the watch reads the input
  private static final int WRITING = 4;
  private static final int LINGERING = 5;
  private static final int CLOSED = 6;

  private static final long CLOCK_START_NS = System.nanoTime();

  private final ClientChannel channel;
  private final long requestTimeUs;
  private final long idleTimeUs;

  /**
   * The phase and its deadline, in one word, so that a deadline is never taken for that of another
   * phase.
   */
  private final AtomicLong state;

  private final ClientReader reader;
  private volatile Runnable cancellation; // cancels the running request; null: none runs
  private volatile Thread waiter; // the thread that waits for the running request
  private volatile boolean timedOut;
  private volatile boolean clientGone;

  ConnectionGuard(ClientChannel channel, ClientReader reader, SeamLimits limits) {
    this.channel = channel;
    this.reader = reader;
    requestTimeUs = limits.requestTime().toNanos() / 1000;
    idleTimeUs = limits.idleTime().toNanos() / 1000;
    state = new AtomicLong(pack(READING, nowUs() + requestTimeUs));
  }

  /** The time in microseconds by which deadlines are measured. */
  static long nowUs() {
    return (System.nanoTime() - CLOCK_START_NS) / 1000;
  }

  private static long pack(int phase, long deadlineUs) {
    return deadlineUs << 3 | phase;
  }

  private static int phase(long state) {
    return (int) state & 7;
  }

  // ---- By the connection's thread --------------------------------------------------------------

  /** Enters the phase of the handshake. */
  void opening() {
    enter(IDLE, requestTimeUs);
  }

  /** Enters the phase of waiting for the next request. */
  void idle() {
    enter(IDLE, idleTimeUs);
  }

  /** Enters the phase of reading a request; returns the time by System.nanoTime. */
  long reading() {
    return enter(READING, requestTimeUs);
  }

  /**
   * Enters the phase of waiting for an answer, in which the thread does not touch the input.
   * Another thread runs {@code cancel} when the client goes away.
   */
  void running(Runnable cancel) {
    running(cancel, PROBE_AFTER_US);
  }

  /**
   * Enters the phase of waiting for a reply's next part, as {@link #running}, with a later probe.
   */
  void resting(Runnable cancel) {
    running(cancel, REST_US);
  }

  private void running(Runnable cancel, long undisturbedUs) {
    cancellation = cancel;
    waiter = Thread.currentThread();
    enter(RUNNING, undisturbedUs);
  }

  /**
   * Ends the phase of waiting: there is an answer or a failure, and the thread owns the input
   * again.
   */
  void answered() {
    long next = pack(READING, nowUs() + requestTimeUs);
    for (long now = state.get(); phase(now) != CLOSED; now = state.get()) {
      if (phase(now) == PROBING) {
        Thread.yield(); // the watch finishes in a few microseconds
      } else if (state.compareAndSet(now, next)) {
        break;
      }
    }
    cancellation = null;
    waiter = null;
  }

  /** Enters the phase of writing a reply. */
  void writing() {
    enter(WRITING, requestTimeUs);
  }

  /** Enters the phase of reading the client's last input before the connection is closed. */
  void lingering() {
    enter(LINGERING, LINGER_US);
  }

  /** Returns the present time, by the clock of System.nanoTime. */
  private long enter(int phase, long timeUs) {
    long nowUs = nowUs();
    state.set(pack(phase, nowUs + timeUs));
    return CLOCK_START_NS + nowUs * 1000;
  }

  /** True if the input ended because the client took too long. */
  boolean timedOut() {
    return timedOut;
  }

  /** True if the client went away while its request ran. */
  boolean clientGone() {
    return clientGone;
  }

  /** Ends the connection; from any thread. */
  void close() {
    state.set(pack(CLOSED, NEVER_US));
    closeChannel();
  }

  private void closeChannel() {
    try {
      channel.close();
    } catch (IOException e) {
      // The connection is useless either way.
    }
    reader.wake(); // a selector does not tell that a channel was closed
  }

  // ---- By the watch ----------------------------------------------------------------------------

  /** True if a request has begun and is not answered. */
  boolean isBusy() {
    int phase = phase(state.get());
    return phase != IDLE && phase != LINGERING && phase != CLOSED;
  }

  /** Checks the connection's deadline; {@code nowUs} is {@link #nowUs}. */
  void tick(long nowUs) {
    long now = state.get();
    if (now >> 3 > nowUs) {
      return;
    }
    int phase = phase(now);
    if (phase == RUNNING) {
      if (!reader.isInRound()) { // else another thread takes over the round first
        probe(now);
      }
    } else if (phase != CLOSED && state.compareAndSet(now, pack(phase, NEVER_US))) {
      expire(phase);
    }
  }

  private void expire(int phase) {
    if (phase == WRITING) {
      closeChannel();
      return;
    }
    timedOut = phase == READING;
    try {
      // A thread that waits for input sees its end, and can still answer.
      channel.shutdownInput();
      // A deadline for the thread, which may wait for the client to read.
      state.compareAndSet(pack(phase, NEVER_US), pack(WRITING, nowUs() + requestTimeUs));
    } catch (IOException e) {
      closeChannel();
    }
  }

  private void probe(long now) {
    Runnable cancel = cancellation;
    long probing = pack(PROBING, NEVER_US);
    if (cancel == null || clientGone || !state.compareAndSet(now, probing)) {
      return;
    }
    clientGone = !isClientThere();
    if (clientGone) {
      cancel.run(); // before the request is answered; afterwards this could hit the next one
    }
    // The next probe is at the next tick.
    state.compareAndSet(probing, clientGone ? pack(RUNNING, NEVER_US) : now);
  }

  /** Probes the client; bytes that arrived are kept for the reader. */
  private boolean isClientThere() {
    try {
      channel.configureBlocking(false);
      boolean there = reader.probe();
      channel.configureBlocking(true);
      return there;
    } catch (IOException e) {
      return false;
    }
  }

  /** Gives up on the request under way. */
  void abort() {
    Runnable cancel = cancellation;
    if (cancel != null) {
      cancel.run();
    }
    Thread thread = waiter;
    close();
    if (thread != null) {
      thread.interrupt(); // the thread stops waiting for the execution
    }
  }
}
