package io.nereid.server.http;

import io.nereid.server.http.seam.ClientConnection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Limits memory for tensors whose bytes are still arriving. A head of a hundred bytes can announce
 * many megabytes: together such tensors may take half of the pool, so that small requests always
 * find memory, and slow clients with the most memory are dropped when others need it. A request
 * whose bytes are all here costs nothing. The threads of all connections call it.
 */
final class ArrivingTensors {

  /**
   * A request with fewer bytes of tensors is not counted, and never refused: those of 10000
   * connections take a hundredth of the default pool.
   */
  private static final long LEAST_BYTES = 4 << 10;

  /** A client that sends fewer bytes a second is slow, after a second in which it could begin. */
  private static final long SLOW_BYTES_PER_S = 1 << 20;

  private static final long BEGIN_NS = TimeUnit.SECONDS.toNanos(1);

  private final long most; // bytes that may be announced
  private final AtomicLong announced = new AtomicLong();
  private final Set<Arrival> arrivals = ConcurrentHashMap.newKeySet();

  private final LongAdder refused;

  /** For a pool of so many bytes; {@code refused} counts refusals. */
  ArrivingTensors(long poolBytes, LongAdder refused) {
    most = poolBytes / 2;
    this.refused = refused;
  }

  /** The arriving tensors of one connection, one request after the other. */
  final class Arrival {
    private final ClientConnection connection;
    private final RequestBody body;
    private long uncounted; // announced bytes that are too few, or are all here
    private long bytes; // announced bytes that are counted
    private long receivedBefore;
    private long sinceNs;

    Arrival(ClientConnection connection, RequestBody body) {
      this.connection = connection;
      this.body = body;
    }

    /** The request announces a tensor of so many bytes; throws if there is no room. */
    void announce(long more) {
      uncounted += more;
      if (bytes + uncounted < LEAST_BYTES || body.hasCome()) {
        return;
      }
      if (!take(uncounted)) {
        end();
        refused.increment();
        throw new HttpFailure(
            Status.UNAVAILABLE,
            "tensors that are still being sent have half of the memory pool, and there is no place"
                + " for this one; --pinned-memory-pool-byte-size sets its size");
      }
      if (bytes == 0) {
        sinceNs = System.nanoTime();
        receivedBefore = body.received();
        arrivals.add(this);
      }
      bytes += uncounted;
      uncounted = 0;
    }

    /** Ends the arrival, complete or not. */
    void end() {
      uncounted = 0;
      if (bytes > 0) {
        announced.addAndGet(-bytes);
        arrivals.remove(this);
        bytes = 0;
      }
    }

    private boolean isSlow(long nowNs) {
      long sendingNs = nowNs - sinceNs - BEGIN_NS;
      long received = body.received() - receivedBefore;
      return sendingNs > 0
          && received < SLOW_BYTES_PER_S / 1000 * TimeUnit.NANOSECONDS.toMillis(sendingNs);
    }
  }

  /** Memory that an arrival had when it was looked at. */
  private record Held(Arrival arrival, long bytes) {}

  /** Counts bytes if there is place for them: a tensor that is refused hinders nobody. */
  private boolean take(long bytes) {
    long before = announced.get();
    while (bytes <= most - before) {
      long seen = announced.compareAndExchange(before, before + bytes);
      if (seen == before) {
        return true;
      }
      before = seen;
    }
    if (!makePlace(bytes - (most - before))) {
      return false;
    }
    announced.addAndGet(bytes);
    return true;
  }

  /**
   * Drops slow clients with so many bytes, those with the most first; false: all of them have too
   * little.
   */
  private boolean makePlace(long lacking) {
    long nowNs = System.nanoTime();
    List<Held> slow =
        arrivals.stream()
            .filter(arrival -> arrival.isSlow(nowNs))
            .map(arrival -> new Held(arrival, arrival.bytes))
            .sorted(Comparator.comparingLong(Held::bytes).reversed())
            .toList();
    if (slow.stream().mapToLong(Held::bytes).sum() < lacking) {
      return false;
    }
    long left = lacking;
    for (Held one : slow) {
      if (left > 0) {
        one.arrival().connection.giveUp();
        left -= one.bytes();
      }
    }
    return true;
  }
}
