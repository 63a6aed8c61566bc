package io.nereid.server.http.seam;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The phase of a connection's life, and its limits: the watch ends waits that take too long, and
 * finds out whether the client is still there while its request waits or runs. The connection's own
 * thread says what it is doing; everything else comes from the watch.
 */
final class ConnectionGuard {

  /** The time for which a request runs before the client is looked after: most are answered. */
  private static final long PROBE_AFTER_US = TimeUnit.MILLISECONDS.toMicros(20);

  /**
   * The time for which a reply in parts rests before the client is looked after. Its next part
   * tells, too.
   */
  private static final long REST_US = TimeUnit.SECONDS.toMicros(5);

  /** The time for which a closed connection is read, so that the client gets the last reply. */
  private static final long LINGER_US = TimeUnit.SECONDS.toMicros(2);

  private static final long NEVER_US = Long.MAX_VALUE >> 3;

  private static final int IDLE = 0;
  private static final int READING = 1;
  private static final int RUNNING = 2;
  private static final int PROBING = 3; // as RUNNING, with the watch at the input
  private static final int WRITING = 4;
  private static final int LINGERING = 5;
  private static final int CLOSED = 6;

  private static final long CLOCK_START_NS = System.nanoTime();

  private final ClientChannel channel;
  private final long requestTimeUs;
  private final long idleTimeUs;

  /**
   * The phase, and when it has taken too long: in one word, so that a deadline is never taken for
   * that of another phase.
   */
  private final AtomicLong state;

  private final ClientReader reader;
  private volatile Runnable cancellation; // of the request that runs; null: none does
  private volatile Thread waiter; // for the request that runs
  private volatile boolean timedOut;
  private volatile boolean clientGone;

  ConnectionGuard(ClientChannel channel, ClientReader reader, SeamLimits limits) {
    this.channel = channel;
    this.reader = reader;
    requestTimeUs = limits.requestTime().toNanos() / 1000;
    idleTimeUs = limits.idleTime().toNanos() / 1000;
    state = new AtomicLong(pack(READING, nowUs() + requestTimeUs));
  }

  /** The clock of the deadlines. */
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

  /** Agrees with the client on how bytes travel. */
  void opening() {
    enter(IDLE, requestTimeUs);
  }

  /** Waits for the next request. */
  void idle() {
    enter(IDLE, idleTimeUs);
  }

  /** Reads a request, from now on by the clock of System.nanoTime. */
  long reading() {
    return enter(READING, requestTimeUs);
  }

  /**
   * Waits for the answer to a request, and does not touch the input meanwhile. {@code cancel} is
   * run by another thread when the client went away.
   */
  void running(Runnable cancel) {
    running(cancel, PROBE_AFTER_US);
  }

  /** Waits for the next part of a reply, as {@link #running}: the client is looked after later. */
  void resting(Runnable cancel) {
    running(cancel, REST_US);
  }

  private void running(Runnable cancel, long undisturbedUs) {
    cancellation = cancel;
    waiter = Thread.currentThread();
    enter(RUNNING, undisturbedUs);
  }

  /** Has an answer, or a failure; the input is its own again. */
  void answered() {
    long next = pack(READING, nowUs() + requestTimeUs);
    for (long now = state.get(); phase(now) != CLOSED; now = state.get()) {
      if (phase(now) == PROBING) {
        Thread.yield(); // the watch is done in a few microseconds
      } else if (state.compareAndSet(now, next)) {
        break;
      }
    }
    cancellation = null;
    waiter = null;
  }

  /** Writes a reply. */
  void writing() {
    enter(WRITING, requestTimeUs);
  }

  /** Reads what a client still sends before the connection is closed. */
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
      // It is of no use any more either way.
    }
    reader.wake(); // a selector does not tell that a channel was closed
  }

  // ---- By the watch ----------------------------------------------------------------------------

  /** True if a request has begun and is not answered. */
  boolean isBusy() {
    int phase = phase(state.get());
    return phase != IDLE && phase != LINGERING && phase != CLOSED;
  }

  /** Looks after the connection; {@code nowUs} is {@link #nowUs}. */
  void tick(long nowUs) {
    long now = state.get();
    if (now >> 3 > nowUs) {
      return;
    }
    int phase = phase(now);
    if (phase == RUNNING) {
      if (!reader.isInRound()) { // else another thread goes round first
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
      // A thread that waits for the client to read is not kept for ever.
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
      cancel.run(); // before the request can be answered, after which this may mean the next one
    }
    // The next look is at the next tick.
    state.compareAndSet(probing, clientGone ? pack(RUNNING, NEVER_US) : now);
  }

  /** Bytes that arrived meanwhile are kept for the reader. */
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

  /** Gives up on whatever is under way. */
  void abort() {
    Runnable cancel = cancellation;
    if (cancel != null) {
      cancel.run();
    }
    Thread thread = waiter;
    close();
    if (thread != null) {
      thread.interrupt(); // it does not wait for the execution
    }
  }
}
