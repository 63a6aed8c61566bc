package io.nereid.perf;

import io.nereid.perf.RecordedRequests.Arrival;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Sends the requests of a recording once each, when they are due. One thread encodes them a little
 * ahead, the thread that calls {@link #run} sends them, and senders tell of answers on threads of
 * their own. A request of a sequence waits for the answer to the one before it; a request that is
 * due while all senders are taken waits for one. Latencies count from when a request was due.
 */
final class ReplayRun implements SendingRun, AutoCloseable {

  /** Requests that are encoded and not due yet. */
  private static final int AHEAD = 32;

  private static final int FIRST_SENDERS = 4;
  private static final long SPIN_NS = 100_000;
  private static final long POLL_NS = 1_000_000;
  private static final long DRAIN_NS = 60_000_000_000L;

  /**
   * The end of a request.
   *
   * @param lateNs how long after it was due it was sent
   * @param held whether it waited for its sequence, so that it could not be sent in time
   * @param status {@code OK}, or how it failed
   */
  record End(Arrival arrival, long latencyNs, long lateNs, boolean held, String status) {}

  /** A request on its way. */
  private static final class Flight {
    private final Arrival arrival;
    private final Encoded message;
    private long dueNs;
    private long lateNs;
    private boolean held;

    Flight(Arrival arrival, Encoded message) {
      this.arrival = arrival;
      this.message = message;
    }
  }

  private final LoadRun.Senders senders;
  private final List<Arrival> arrivals;
  private final Function<Arrival, Encoded> encoder;
  private final double speed; // infinite: as fast as possible
  private final int mostSenders;
  private final BlockingQueue<Flight> encoded = new ArrayBlockingQueue<>(AHEAD);
  private final Thread reader;
  private volatile RuntimeException readFailure;
  private volatile boolean stopping;

  private final Object lock = new Object();

  // Under lock from here.
  private final Deque<Sender> free = new ArrayDeque<>();
  private final Map<Sender, Flight> flying = new HashMap<>();
  private final Map<String, Deque<Flight>> sequences = new HashMap<>(); // those that wait
  private final List<Sender> opened = new ArrayList<>();
  private final List<End> ends = new ArrayList<>();
  private String firstError; // null: there was none
  private Thread waiting; // for a sender; null: nobody does

  /**
   * Sends nothing yet; owns the senders.
   *
   * @param mostSenders the most requests under way at a time
   */
  ReplayRun(
      LoadRun.Senders senders,
      List<Arrival> arrivals,
      Function<Arrival, Encoded> encoder,
      double speed,
      int mostSenders) {
    this.senders = senders;
    this.arrivals = arrivals;
    this.encoder = encoder;
    this.speed = speed;
    this.mostSenders = mostSenders;
    reader = Thread.ofPlatform().name("nrd-replay-read").daemon().unstarted(this::encodeAll);
  }

  /** Sends all, and returns how each ended. */
  List<End> run(int firstSenders) throws IOException, InterruptedException {
    for (int i = 0; i < Math.min(mostSenders, Math.max(FIRST_SENDERS, firstSenders)); i++) {
      open();
    }
    LoadRun.TimerSlack.reduce();
    reader.start();
    long startNs = 0;
    for (Arrival arrival : arrivals) {
      Flight flight = take();
      if (arrival.index() == 0) { // now that what encodes it is loaded
        startNs = System.nanoTime() + POLL_NS;
      }
      boolean timed = !Double.isInfinite(speed);
      long dueNs = timed ? startNs + (long) (arrival.offsetNs() / speed) : 0;
      if (timed) {
        awaitDue(dueNs);
      }
      flight.dueNs = dueNs;
      send(flight);
    }
    drain();
    synchronized (lock) {
      return List.copyOf(ends);
    }
  }

  /** The first failure in words; null: there was none. */
  String firstError() {
    synchronized (lock) {
      return firstError;
    }
  }

  private void encodeAll() {
    try {
      for (Arrival arrival : arrivals) {
        encoded.put(new Flight(arrival, encoder.apply(arrival)));
      }
    } catch (InterruptedException e) {
      return; // the run was closed
    } catch (RuntimeException e) {
      readFailure = e;
    }
  }

  private Flight take() throws InterruptedException {
    while (true) {
      Flight flight = encoded.poll(POLL_NS, TimeUnit.NANOSECONDS);
      if (flight != null) {
        return flight;
      }
      if (readFailure != null) {
        throw readFailure;
      }
    }
  }

  /** Sleeps, and spins at the end, since a sleep ends late. */
  private static void awaitDue(long dueNs) {
    for (long leftNs = dueNs - System.nanoTime(); leftNs > 0; leftNs = dueNs - System.nanoTime()) {
      if (leftNs > SPIN_NS) {
        LockSupport.parkNanos(leftNs - SPIN_NS);
      } else {
        Thread.onSpinWait();
      }
    }
  }

  // ---- Sending ---------------------------------------------------------------------------------

  private void send(Flight flight) throws IOException {
    String sequence = flight.arrival.sequence();
    synchronized (lock) {
      if (!sequence.isEmpty()) {
        Deque<Flight> before = sequences.get(sequence);
        if (before != null) {
          flight.held = true;
          before.add(flight);
          return;
        }
        sequences.put(sequence, new ArrayDeque<>());
      }
    }
    transmit(takeFree(), flight);
  }

  private void transmit(Sender sender, Flight flight) {
    long nowNs = System.nanoTime();
    if (flight.dueNs == 0) { // as fast as it goes
      flight.dueNs = nowNs;
    }
    flight.lateNs = nowNs - flight.dueNs;
    sender.intend(flight.dueNs);
    sender.allow(flight.arrival.call().deadlineNs());
    synchronized (lock) {
      flying.put(sender, flight);
    }
    if (sender instanceof DirectSender direct) {
      direct.take(flight.arrival.call());
    } else {
      sender.prepare(flight.message, flight.message.head());
    }
    sender.send();
  }

  private Sender takeFree() throws IOException {
    while (true) {
      boolean more;
      synchronized (lock) {
        Sender sender = free.poll();
        if (sender != null) {
          return sender;
        }
        more = opened.size() < mostSenders;
        waiting = more ? null : Thread.currentThread();
      }
      if (more) {
        open();
      } else {
        LockSupport.parkNanos(POLL_NS);
      }
    }
  }

  private void open() throws IOException {
    Sender sender = senders.open(opened.size(), this);
    synchronized (lock) {
      opened.add(sender);
      free.push(sender);
    }
  }

  // ---- Called by senders -----------------------------------------------------------------------

  @Override
  public void succeeded(Sender sender, long nowNs) {
    ended(sender, nowNs, "OK");
    ready(sender, nowNs);
  }

  @Override
  public void failed(Sender sender, String status, String text) {
    synchronized (lock) {
      firstError = firstError == null ? status + ": " + text : firstError;
    }
    ended(sender, System.nanoTime(), status);
  }

  private void ended(Sender sender, long nowNs, String status) {
    synchronized (lock) {
      Flight flight = flying.get(sender);
      ends.add(new End(flight.arrival, nowNs - flight.dueNs, flight.lateNs, flight.held, status));
    }
  }

  @Override
  public void failedToConnect(Sender sender, IOException cause) {
    synchronized (lock) {
      firstError = firstError == null ? "connection: " + cause.getMessage() : firstError;
    }
  }

  /** Gives the sender the next request of the sequence that it has served, or nothing. */
  @Override
  public void ready(Sender sender, long nowNs) {
    Flight next = null;
    synchronized (lock) {
      Flight last = flying.remove(sender);
      if (last != null) {
        Deque<Flight> held = sequences.get(last.arrival.sequence());
        next = held == null ? null : held.poll();
        if (held != null && next == null) {
          sequences.remove(last.arrival.sequence());
        }
      }
      if (next == null) {
        free.push(sender);
        LockSupport.unpark(waiting);
      }
    }
    if (next != null) {
      transmit(sender, next);
    }
  }

  @Override
  public boolean isStopping() {
    return stopping;
  }

  private void drain() {
    long deadlineNs = System.nanoTime() + DRAIN_NS;
    while (System.nanoTime() - deadlineNs < 0) {
      synchronized (lock) {
        if (ends.size() == arrivals.size()) {
          return;
        }
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  @Override
  public void close() {
    stopping = true;
    reader.interrupt();
    synchronized (lock) {
      opened.forEach(Sender::close);
    }
    senders.close();
  }
}
