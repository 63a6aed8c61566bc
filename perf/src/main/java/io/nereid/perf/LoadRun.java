package io.nereid.perf;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * One level of load against the server, from its first request until {@link #close}. In a closed
 * loop each slot sends its next request when it has its reply; in an open loop the {@link Schedule}
 * says when, and slots are opened as they are needed, up to a bound. A request that is due while
 * all slots are taken waits for one, and its latency counts from when it was due.
 */
final class LoadRun implements AutoCloseable {

  /** Of an open loop, so that its first requests do not wait for connections. */
  private static final int FIRST_SLOTS = 16;

  private static final long DRAIN_NS = 5_000_000_000L;
  private static final long POLL_NS = 1_000_000;
  private static final long OPEN_RETRY_NS = 50_000_000;

  private final Slots slots;
  private final Requests requests;
  private final LoadLevel level;
  private final Schedule schedule; // null: a closed loop
  private final Thread pacer; // null: a closed loop
  private final LongAdder begun = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private final AtomicReference<String> firstError = new AtomicReference<>();
  private volatile boolean stopping;

  private final Object lock = new Object();
  private final List<Slot> opened = new ArrayList<>(); // under lock
  private final Deque<Slot> free = new ArrayDeque<>(); // under lock
  private boolean pacerWaits; // under lock
  private boolean opening; // under lock

  private LoadRun(Slots slots, Requests requests, LoadLevel level, long seed) {
    this.slots = slots;
    this.requests = requests;
    this.level = level;
    if (level.isOpenLoop()) {
      schedule = new Schedule(level.ratePerSecond(), level.poisson(), seed, System.nanoTime());
      pacer = Thread.ofPlatform().name("nrd-perf-pacer").daemon().unstarted(this::pace);
    } else {
      schedule = null;
      pacer = null;
    }
  }

  /** Connects and begins; owns {@code slots} from now on, also when it fails. */
  static LoadRun start(Slots slots, Requests requests, LoadLevel level, long seed)
      throws IOException {
    int first = level.isOpenLoop() ? Math.min(FIRST_SLOTS, level.mostSlots()) : level.mostSlots();
    LoadRun run = null;
    try {
      List<Slot> ready = new ArrayList<>();
      run = new LoadRun(slots, requests, level, seed);
      for (int i = 0; i < first; i++) {
        ready.add(slots.open(i, run));
      }
      run.begin(ready);
      return run;
    } catch (IOException | RuntimeException | Error e) {
      if (run == null) {
        slots.close();
      } else {
        run.close();
      }
      throw e;
    }
  }

  private void begin(List<Slot> ready) {
    synchronized (lock) {
      opened.addAll(ready);
    }
    ready.forEach(slot -> ready(slot, System.nanoTime()));
    if (pacer != null) {
      pacer.start();
    }
  }

  // ---- Called by slots -------------------------------------------------------------------------

  /** The request of a slot was answered; gives it the next one. */
  void succeeded(Slot slot, long nowNs) {
    slot.tally().success(nowNs - slot.intendedNs(), slot.rows());
    ended.increment();
    ready(slot, nowNs);
  }

  /** The request of a slot failed. The slot calls {@link #ready} when it can send again. */
  void failed(Slot slot, String status, String text) {
    slot.tally().error(status);
    ended.increment();
    firstError.compareAndSet(null, status + ": " + text);
    requests.failed(slot);
  }

  /** A slot could not be connected again; it goes on trying. */
  void failedToConnect(Slot slot, IOException cause) {
    slot.tally().error("connection");
    firstError.compareAndSet(null, "connection: " + cause.getMessage());
  }

  /** A slot can send: it gets the next request, if there is one. */
  void ready(Slot slot, long nowNs) {
    if (stopping) {
      if (requests.isWithinSequence(slot)) { // else the server would keep its state
        requests.next(slot, true);
        transmit(slot, nowNs, nowNs);
      }
      return;
    }
    long atNs = schedule == null ? nowNs : schedule.takeDue(nowNs);
    if (atNs == Schedule.NONE) {
      release(slot);
      return;
    }
    requests.next(slot, false);
    transmit(slot, atNs, nowNs);
  }

  private void transmit(Slot slot, long atNs, long nowNs) {
    slot.intend(atNs);
    if (schedule != null) {
      slot.tally().sent(nowNs - atNs);
    }
    begun.increment();
    slot.send();
  }

  // ---- The open loop ---------------------------------------------------------------------------

  private void release(Slot slot) {
    synchronized (lock) {
      free.push(slot); // the last one used is the warmest
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
      Slot slot = takeFree();
      if (slot == null) {
        LockSupport.parkNanos(POLL_NS);
      } else {
        ready(slot, nowNs);
      }
    }
  }

  private Slot takeFree() {
    synchronized (lock) {
      Slot slot = free.poll();
      if (slot == null) {
        pacerWaits = true;
        if (!opening && opened.size() < level.mostSlots()) {
          opening = true;
          int index = opened.size();
          Thread.ofVirtual().name("nrd-perf-open").start(() -> open(index));
        }
      }
      return slot;
    }
  }

  private void open(int index) {
    Slot slot = null;
    try {
      slot = slots.open(index, this);
    } catch (IOException | RuntimeException e) {
      firstError.compareAndSet(null, "connection: " + e.getMessage());
      LockSupport.parkNanos(OPEN_RETRY_NS);
    }
    synchronized (lock) {
      opening = false;
      if (slot != null) {
        opened.add(slot);
      }
    }
    if (slot != null) {
      ready(slot, System.nanoTime());
    }
  }

  // ---- For who measures ------------------------------------------------------------------------

  boolean isStopping() {
    return stopping;
  }

  /** What happened since the last call. */
  Tally.Counts drain() {
    Tally.Counts counts = new Tally.Counts();
    slots.tallies().forEach(tally -> tally.drainInto(counts));
    return counts;
  }

  long succeeded() {
    return slots.tallies().stream().mapToLong(Tally::succeeded).sum();
  }

  /** The rows of a request, on average. */
  double rowsPerRequest() {
    long rows = slots.tallies().stream().mapToLong(Tally::rows).sum();
    return (double) rows / Math.max(1, succeeded());
  }

  /** Requests sent and not answered. */
  long outstanding() {
    long done = ended.sum(); // first, so that it cannot be ahead
    return Math.max(0, begun.sum() - done);
  }

  /** Requests that are due and were not sent. */
  long backlog() {
    return schedule == null ? 0 : schedule.backlog(System.nanoTime());
  }

  int slotCount() {
    synchronized (lock) {
      return opened.size();
    }
  }

  /** Null: there was none. */
  String firstError() {
    return firstError.get();
  }

  /** Sends nothing more, waits a while for what is under way, and disconnects. */
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
      opened.forEach(Slot::close);
    }
    slots.close();
  }

  private void endIdleSequences() {
    List<Slot> idle;
    synchronized (lock) {
      idle = new ArrayList<>(free);
      free.clear();
    }
    idle.forEach(slot -> ready(slot, System.nanoTime()));
  }
}
