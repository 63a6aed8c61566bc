package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.perf.RecordedRequests.Arrival;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Sends the requests of a recording once each, when they are due. One thread encodes them a little
 * ahead, the thread that calls {@link #run} sends them, and senders report answers on their own
 * threads. A request of a sequence waits for the previous one's answer; a request that is due while
 * all senders are busy waits for one, and fails where another one cannot connect. When no sender
 * gets free for long, the rest is not sent. Latencies count from due times.
 */
final class ReplayRun implements SendingRun, AutoCloseable {

  /** The most requests that are encoded ahead. */
  private static final int AHEAD = 32;

  private static final int FIRST_SENDERS = 4;
  private static final long SPIN_NS = 100_000;
  private static final long POLL_NS = 1_000_000;
  private static final long PATIENCE_S = 60; // without an answer, and for the last ones

  /**
   * The end of a request.
   *
   * @param lateNs the delay of sending after the due time
   * @param held whether it waited for its sequence, so that it could not be sent in time
   * @param status {@code OK}, or the kind of failure
   */
  record End(Arrival arrival, long latencyNs, long lateNs, boolean held, String status) {}

  /** A request under way. */
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
  private final ExecutorService encoding =
      Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "nrd-replay-read");
        thread.setDaemon(true);
        return thread;
      });
  private final List<Sender> opened = new ArrayList<>(); // used by run's thread
  private final BlockingDeque<Sender> free = new LinkedBlockingDeque<>();
  private final Map<Sender, Flight> flying = new ConcurrentHashMap<>();

  /** Waiting requests. */
  @GuardedBy("sequences")
  private final Map<String, Deque<Flight>> sequences = new HashMap<>();

  private final Queue<End> ends = new ConcurrentLinkedQueue<>();
  private final CountDownLatch left;
  private final AtomicReference<String> firstError = new AtomicReference<>();
  private volatile boolean stopping;

  /**
   * Makes a run, which owns the senders and sends nothing yet.
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
    left = new CountDownLatch(arrivals.size());
  }

  /** Sends all requests, and returns the end of each that was answered or failed. */
  List<End> run(int firstSenders) throws IOException, InterruptedException {
    for (int i = 0; i < Math.min(mostSenders, Math.max(FIRST_SENDERS, firstSenders)); i++) {
      free.push(open());
    }
    LoadRun.TimerSlack.reduce();
    Queue<Future<Encoded>> ahead = new ArrayDeque<>();
    int next = 0;
    long startNs = 0;
    for (Arrival arrival : arrivals) {
      for (; next < arrivals.size() && ahead.size() < AHEAD; next++) {
        Arrival later = arrivals.get(next);
        ahead.add(encoding.submit(() -> encoder.apply(later)));
      }
      Flight flight = new Flight(arrival, encoded(ahead.remove()));
      if (arrival.index() == 0) { // begins now, when the encoder's classes are loaded
        startNs = System.nanoTime() + POLL_NS;
      }
      if (!Double.isInfinite(speed)) {
        flight.dueNs = startNs + (long) (arrival.offsetNs() / speed);
        awaitDue(flight.dueNs);
      }
      if (!send(flight)) {
        firstError.compareAndSet(null, "no answer came for " + PATIENCE_S + " s");
        return List.copyOf(ends);
      }
    }
    left.await(PATIENCE_S, TimeUnit.SECONDS);
    return List.copyOf(ends);
  }

  /** The first failure in words; null: none. */
  String firstError() {
    return firstError.get();
  }

  private static Encoded encoded(Future<Encoded> message) throws InterruptedException {
    try {
      return message.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException failure
          ? failure
          : new PerfException("" + e, e);
    }
  }

  /** Waits until a time: sleeps, and spins at the end, since sleeps end late. */
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

  /** Sends a request, or has it wait for its sequence; false: no sender got free. */
  private boolean send(Flight flight) throws InterruptedException {
    String sequence = flight.arrival.sequence();
    if (!sequence.isEmpty()) {
      synchronized (sequences) {
        Deque<Flight> before = sequences.get(sequence);
        if (before != null) {
          flight.held = true;
          before.add(flight);
          return true;
        }
        sequences.put(sequence, new ArrayDeque<>());
      }
    }
    Sender sender = free.poll();
    if (sender == null && opened.size() < mostSenders) {
      try {
        sender = open();
      } catch (IOException e) {
        firstError.compareAndSet(null, "connection: " + e.getMessage());
        begin(flight);
        end(flight, System.nanoTime(), "connection");
        nextOf(sequence); // none: it was the first, and only this thread adds others
        return true;
      }
    }
    if (sender == null) {
      sender = free.poll(PATIENCE_S, TimeUnit.SECONDS);
    }
    if (sender == null) {
      return false;
    }
    transmit(sender, flight);
    return true;
  }

  private static void begin(Flight flight) {
    long nowNs = System.nanoTime();
    if (flight.dueNs == 0) { // sent as fast as possible
      flight.dueNs = nowNs;
    }
    flight.lateNs = nowNs - flight.dueNs;
  }

  private void transmit(Sender sender, Flight flight) {
    begin(flight);
    sender.intend(flight.dueNs);
    sender.allow(flight.arrival.call().deadlineNs());
    flying.put(sender, flight);
    if (sender instanceof DirectSender direct) {
      direct.take(flight.arrival.call());
    } else {
      sender.prepare(flight.message, flight.message.head());
    }
    sender.send();
  }

  private Sender open() throws IOException {
    Sender sender = senders.open(opened.size(), this);
    opened.add(sender);
    return sender;
  }

  // ---- Called by senders -----------------------------------------------------------------------

  @Override
  public void succeeded(Sender sender, long nowNs) {
    ended(sender, nowNs, "OK");
    ready(sender, nowNs);
  }

  @Override
  public void failed(Sender sender, String status, String text) {
    firstError.compareAndSet(null, status + ": " + text);
    ended(sender, System.nanoTime(), status);
  }

  private void ended(Sender sender, long nowNs, String status) {
    end(flying.get(sender), nowNs, status);
  }

  private void end(Flight flight, long nowNs, String status) {
    ends.add(new End(flight.arrival, nowNs - flight.dueNs, flight.lateNs, flight.held, status));
    left.countDown();
  }

  @Override
  public void failedToConnect(Sender sender, IOException cause) {
    firstError.compareAndSet(null, "connection: " + cause.getMessage());
  }

  /** Gives the sender the next waiting request of its sequence, or none. */
  @Override
  public void ready(Sender sender, long nowNs) {
    Flight last = flying.remove(sender);
    Flight next = last == null ? null : nextOf(last.arrival.sequence());
    if (next == null) {
      free.push(sender);
    } else {
      transmit(sender, next);
    }
  }

  /**
   * Takes the next waiting request of a sequence; null: none waits, and the next one need not wait.
   */
  private Flight nextOf(String sequence) {
    synchronized (sequences) {
      Deque<Flight> held = sequences.get(sequence);
      Flight next = held == null ? null : held.poll();
      if (next == null) {
        sequences.remove(sequence);
      }
      return next;
    }
  }

  @Override
  public boolean isStopping() {
    return stopping;
  }

  @Override
  public void close() {
    stopping = true;
    encoding.shutdownNow();
    opened.forEach(Sender::close);
    senders.close();
  }
}
