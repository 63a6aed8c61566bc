package io.nereid.server.wire;

import io.nereid.server.shared.CpuLoad;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * The rounds of a port ({@link ReadingRound}): one for every two processors, since what clients,
 * models and the kernel do wants the other half. When those are busy all the time, and the machine
 * has processors to spare, as with clients on other machines, there are twice as many. Connections
 * join from their own threads; the watch looks after the rounds.
 */
final class ReadingRounds implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(ReadingRounds.class.getName());

  /** How many of the watch's ticks pass between two decisions. */
  private static final int TICKS = 10;

  /** Rounds that rest less than this share of the time are busy. */
  private static final double BUSY_SHARE = 0.95;

  /** The machine has processors to spare when no more than this share of them is used. */
  private static final double SPARE_LOAD = 0.75;

  /** Half of the rounds will do when they would be used up to this share. */
  private static final double HALF_SHARE = 0.7;

  final int half = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  final int most = Math.min(2 * half, Runtime.getRuntime().availableProcessors());

  private final BusyReaders readers;

  /** The array is guarded by this, and read by the watch; null: that one is not there yet. */
  private final ReadingRound[] rounds = new ReadingRound[most];

  private boolean closed; // guarded by this
  private volatile int used = half;

  // Of the watch.
  private int ticks;
  private long lookedNs = System.nanoTime();
  private boolean wasBusy;

  /** With threads for those that are busy. */
  ReadingRounds(BusyReaders readers) {
    this.readers = readers;
  }

  /** Takes a connection whose next request has not come; false: it keeps its own thread. */
  boolean take(ReadingRound.Member connection) {
    ReadingRound round = leastUsed();
    return round != null && round.take(connection);
  }

  /** Null: there is none, for want of descriptors, or because all is about to end. */
  private synchronized ReadingRound leastUsed() {
    ReadingRound least = null;
    for (int i = 0; i < used && !closed; i++) {
      ReadingRound round = round(i);
      if (round != null && (least == null || round.size() < least.size())) {
        least = round;
      }
    }
    return least;
  }

  /** One of them, which is opened when it is wanted first; null: it cannot be. */
  private ReadingRound round(int index) {
    if (rounds[index] == null) {
      try {
        rounds[index] = new ReadingRound(readers);
      } catch (IOException e) {
        LOGGER.log(Level.DEBUG, "connections keep threads of their own", e);
      }
    }
    return rounds[index];
  }

  /** How many connections they have. */
  synchronized int size() {
    int size = 0;
    for (ReadingRound round : rounds) {
      size += round == null ? 0 : round.size();
    }
    return size;
  }

  // ---- By the watch ----------------------------------------------------------------------------

  /** Looks after them, at each tick. */
  void look() {
    for (ReadingRound round : rounds) {
      if (round != null) {
        round.look();
      }
    }
    if (++ticks % TICKS == 0 && most > half) {
      long nowNs = System.nanoTime();
      fit(busyRounds(nowNs));
      lookedNs = nowNs;
    }
  }

  /** How many rounds would have been busy all the time with what all did since the last look. */
  private double busyRounds(long nowNs) {
    double sinceNs = Math.max(1, nowNs - lookedNs);
    double busy = 0;
    for (ReadingRound round : rounds) {
      if (round != null) {
        busy += 1 - Math.min(1, round.takeRestNs(nowNs) / sinceNs);
      }
    }
    return busy;
  }

  private void fit(double busy) {
    if (used > half) {
      if (busy < HALF_SHARE * half) {
        use(half);
      }
      return;
    }
    boolean isBusy = busy >= BUSY_SHARE * half;
    // The processors' load is known since the last time that somebody asked.
    double load = isBusy ? CpuLoad.measured(0) : 1;
    if (isBusy && wasBusy && load <= SPARE_LOAD) {
      use(most);
    }
    wasBusy = isBusy;
  }

  /** Uses so many; those that are used in one way only share with one of the others. */
  synchronized void use(int count) {
    used = count;
    for (int i = half; i < most && !closed; i++) {
      ReadingRound one = round(i - half);
      ReadingRound other = round(i);
      if (one != null && other != null) {
        (count > half ? one : other).giveTo(count > half ? other : one, count == half);
      }
    }
  }

  /** They end, with the connections that they have. */
  @Override
  public synchronized void close() {
    closed = true;
    for (ReadingRound round : rounds) {
      if (round != null) {
        round.close();
      }
    }
  }
}
