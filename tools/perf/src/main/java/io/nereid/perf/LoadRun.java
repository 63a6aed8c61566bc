package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * One level of load against the server, from its first request until {@link #close}. In a closed
 * loop each sender sends its next request when it has its reply; in an open loop the {@link
 * Schedule} says when, and senders are opened as they are needed, up to a bound. A request that is
 * due while all senders are busy waits for one, and its latency counts from its due time.
 */
final class LoadRun implements SendingRun, AutoCloseable {

  /**
   * The senders that an open loop begins with, so that its first requests do not wait for
   * connections.
   */
  private static final int FIRST_SENDERS = 16;

  private static final long DRAIN_NS = 5_000_000_000L;
  private static final long POLL_NS = 1_000_000;
  private static final long OPEN_RETRY_NS = 50_000_000;

  private final Senders senders;
  private final Requests requests;
  private final LoadLevel level;
  private final Schedule schedule; // null: a closed loop
  private final Thread pacer; // null: a closed loop
  private final LongAdder begun = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private final AtomicReference<String> firstError = new AtomicReference<>();
  private volatile boolean stopping;

  private final Object lock = new Object();

  @GuardedBy("lock")
  private final List<Sender> opened = new ArrayList<>();

  @GuardedBy("lock")
  private final Deque<Sender> free = new ArrayDeque<>();

  @GuardedBy("lock")
  private boolean pacerWaits;

  @GuardedBy("lock")
  private boolean opening;

  private LoadRun(Senders senders, Requests requests, LoadLevel level, long seed) {
    this.senders = senders;
    this.requests = requests;
    this.level = level;
    if (level.isOpenLoop()) {
      schedule = new Schedule(level.ratePerSecond(), level.poisson(), seed, System.nanoTime());
      pacer = new Thread(this::pace, "nrd-perf-pacer");
      pacer.setDaemon(true);
    } else {
      schedule = null;
      pacer = null;
    }
  }

  /** Connects and begins; owns {@code senders} from now on, even when it fails. */
  static LoadRun start(Senders senders, Requests requests, LoadLevel level, long seed)
      throws IOException {
    int first =
        level.isOpenLoop() ? Math.min(FIRST_SENDERS, level.mostSenders()) : level.mostSenders();
    LoadRun run = null;
    try {
      List<Sender> ready = new ArrayList<>();
      run = new LoadRun(senders, requests, level, seed);
      for (int i = 0; i < first; i++) {
        ready.add(senders.open(i, run));
      }
      run.begin(ready);
      return run;
    } catch (IOException | RuntimeException | Error e) {
      if (run == null) {
        senders.close();
      } else {
        run.close();
      }
      throw e;
    }
  }

  private void begin(List<Sender> ready) {
    synchronized (lock) {
      opened.addAll(ready);
    }
    ready.forEach(sender -> ready(sender, System.nanoTime()));
    if (pacer != null) {
      pacer.start();
    }
  }

  // ---- Called by senders -----------------------------------------------------------------------

  @Override
  public void succeeded(Sender sender, long nowNs) {
    sender.tally().success(nowNs - sender.intendedNs(), sender.rows());
    if (requests.endsSequence(sender)) {
      sender.tally().sequenceEnded();
    }
    ended.increment();
    ready(sender, nowNs);
  }

  @Override
  public void failed(Sender sender, String status, String text) {
    sender.tally().error(status);
    ended.increment();
    firstError.compareAndSet(null, status + ": " + text);
    requests.failed(sender);
  }

  @Override
  public void failedToConnect(Sender sender, IOException cause) {
    sender.tally().error("connection");
    firstError.compareAndSet(null, "connection: " + cause.getMessage());
  }

  @Override
  public void ready(Sender sender, long nowNs) {
    if (stopping) {
      if (requests.isWithinSequence(sender)) { // else the server would keep the sequence's state
        requests.next(sender, true);
        transmit(sender, nowNs, nowNs);
      }
      return;
    }
    long atNs = schedule == null ? nowNs : schedule.takeDue(nowNs);
    if (atNs == Schedule.NONE) {
      release(sender);
      return;
    }
    requests.next(sender, false);
    transmit(sender, atNs, nowNs);
  }

  private void transmit(Sender sender, long atNs, long nowNs) {
    sender.intend(atNs);
    if (schedule != null) {
      sender.tally().sent(nowNs - atNs);
    }
    begun.increment();
    sender.send();
  }

  // ---- The open loop ---------------------------------------------------------------------------

  private void release(Sender sender) {
    synchronized (lock) {
      free.push(sender); // the last one used is the warmest
      if (pacerWaits) {
        pacerWaits = false;
        LockSupport.unpark(pacer);
      }
    }
  }

  private void pace() {
    TimerSlack.reduce();
    while (!stopping) {
      long nowNs = System.nanoTime();
      long aheadNs = schedule.nextNs() - nowNs;
      if (aheadNs > 0) {
        LockSupport.parkNanos(aheadNs);
        continue;
      }
      Sender sender = takeFree();
      if (sender == null) {
        LockSupport.parkNanos(POLL_NS);
      } else {
        ready(sender, nowNs);
      }
    }
  }

  private Sender takeFree() {
    synchronized (lock) {
      Sender sender = free.poll();
      if (sender == null) {
        pacerWaits = true;
        if (!opening && opened.size() < level.mostSenders()) {
          opening = true;
          int index = opened.size();
          Sender.OPENERS.execute(() -> open(index));
        }
      }
      return sender;
    }
  }

  private void open(int index) {
    Sender sender = null;
    try {
      sender = senders.open(index, this);
    } catch (IOException | RuntimeException e) {
      firstError.compareAndSet(null, "connection: " + e.getMessage());
      LockSupport.parkNanos(OPEN_RETRY_NS);
    }
    synchronized (lock) {
      opening = false;
      if (sender != null) {
        opened.add(sender);
      }
    }
    if (sender != null) {
      ready(sender, System.nanoTime());
    }
  }

  // ---- Measuring -------------------------------------------------------------------------------

  @Override
  public boolean isStopping() {
    return stopping;
  }

  /** Returns the counts since the last call. */
  Tally.Counts drain() {
    Tally.Counts counts = new Tally.Counts();
    senders.tallies().forEach(tally -> tally.drainInto(counts));
    return counts;
  }

  long succeeded() {
    return senders.tallies().stream().mapToLong(Tally::succeeded).sum();
  }

  /** The rows of a request, on average. */
  double rowsPerRequest() {
    long rows = senders.tallies().stream().mapToLong(Tally::rows).sum();
    return (double) rows / Math.max(1, succeeded());
  }

  /** Requests sent and not answered. */
  long outstanding() {
    long done = ended.sum(); // read first, so that it cannot exceed the other count
    return Math.max(0, begun.sum() - done);
  }

  /** Requests that are due and were not sent. */
  long backlog() {
    return schedule == null ? 0 : schedule.backlog(System.nanoTime());
  }

  int senderCount() {
    synchronized (lock) {
      return opened.size();
    }
  }

  /** The first failure in words; null: none. */
  String firstError() {
    return firstError.get();
  }

  /** Sends no more requests, waits a while for those under way, and disconnects. */
  @Override
  public void close() {
    stopping = true;
    if (pacer != null) {
      LockSupport.unpark(pacer);
    }
    endIdleSequences();
    long deadlineNs = System.nanoTime() + DRAIN_NS;
    while (outstanding() > 0 && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    synchronized (lock) {
      opened.forEach(Sender::close);
    }
    senders.close();
  }

  private void endIdleSequences() {
    List<Sender> idle;
    synchronized (lock) {
      idle = new ArrayList<>(free);
      free.clear();
    }
    idle.forEach(sender -> ready(sender, System.nanoTime()));
  }

  /**
   * Sets the time by which Linux may wake a sleeping thread too late in order to wake several at
   * once: 50 µs by default.
   */
  static final class TimerSlack {

    private TimerSlack() {}

    /** Reduces the slack of the calling thread; where that is impossible, its sleeps are longer. */
    static void reduce() {
      try {
        Path thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
        Files.writeString(Path.of("/proc", thread.toString(), "timerslack_ns"), "1000");
      } catch (IOException | UnsupportedOperationException e) {
        return; // not Linux, or not allowed
      }
    }
  }

  /** Opens senders of one kind, and owns the threads that serve them. */
  interface Senders extends AutoCloseable {

    /** A sender that is ready to send; blocks until it is connected. */
    Sender open(int index, SendingRun run) throws IOException;

    /** The tallies of the threads or connections, one each. */
    List<Tally> tallies();

    /** Closes the senders' shared resources, after the senders. */
    @Override
    void close();
  }
}
