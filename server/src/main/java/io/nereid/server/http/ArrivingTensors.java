package io.nereid.server.http;

import io.nereid.server.http.seam.ClientConnection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Limits memory for tensors whose bytes are still arriving. A head of a hundred bytes can announce
 * many megabytes: together such tensors may take half of the pool, so that small requests always
 * find memory, and slow clients are dropped when others need the memory. A request whose bytes are
 * all here costs nothing. The threads of all connections call it.
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
      if (bytes == 0) {
        sinceNs = System.nanoTime();
        receivedBefore = body.received();
        arrivals.add(this);
      }
      long counted = uncounted;
      uncounted = 0;
      bytes += counted;
      if (announced.addAndGet(counted) > most && !makePlace()) {
        end();
        refused.increment();
        throw new HttpFailure(
            Status.UNAVAILABLE,
            "tensors that are still being sent have half of the memory pool, and there is no place"
                + " for this one; --pinned-memory-pool-byte-size sets its size");
      }
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

  /** Drops slow clients; true: there is room now. */
  private boolean makePlace() {
    long nowNs = System.nanoTime();
    long leaving = 0;
    for (Arrival arrival : arrivals) {
      if (arrival.isSlow(nowNs)) {
        leaving += arrival.bytes;
        arrival.connection.giveUp();
      }
    }
    return announced.get() - leaving <= most;
  }
}
