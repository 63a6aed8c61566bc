package io.nereid.server.http;

import io.nereid.server.http.seam.ClientConnection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Large tensors whose memory is taken while their bytes are still to come. A head of a hundred
 * bytes can announce many megabytes: together such tensors may have half of the pool, so that small
 * requests find memory at any time, and a client that sends slowly is given up when others want its
 * place. The threads of all connections call it.
 */
final class ArrivingTensors {

  /** A request with fewer bytes of tensors is not counted. */
  static final long LEAST_BYTES = 1 << 20;

  /** A client that sends fewer bytes a second is slow, after a second in which it could begin. */
  private static final long SLOW_BYTES_PER_S = 1 << 20;

  private static final long BEGIN_NS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier poolBytes;
  private final AtomicLong announced = new AtomicLong();
  private final Set<Arrival> arrivals = ConcurrentHashMap.newKeySet();

  private final LongAdder refused;

  /** For a pool of so many bytes; {@code refused} counts what is refused. */
  ArrivingTensors(LongSupplier poolBytes, LongAdder refused) {
    this.poolBytes = poolBytes;
    this.refused = refused;
  }

  /** The tensors of one request after the other of a connection. */
  final class Arrival {
    private final ClientConnection connection;
    private final RequestBody body;
    private long bytes;
    private long receivedBefore;
    private long sinceNs;

    Arrival(ClientConnection connection, RequestBody body) {
      this.connection = connection;
      this.body = body;
    }

    /** The request announces a tensor of so many bytes; fails when there is no place for it. */
    void announce(long more) {
      if (bytes + more < LEAST_BYTES) {
        return;
      }
      if (bytes == 0) {
        sinceNs = System.nanoTime();
        receivedBefore = body.received();
        arrivals.add(this);
      }
      bytes += more;
      long most = poolBytes.getAsLong() / 2;
      if (announced.addAndGet(more) > most && !makePlace(most)) {
        end();
        refused.increment();
        throw new HttpFailure(
            Status.UNAVAILABLE,
            "tensors that are still being sent have half of the memory pool, and there is no place"
                + " for this one; --pinned-memory-pool-byte-size sets its size");
      }
    }

    /** All has come, or nothing more will. */
    void end() {
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

  /** Gives slow clients up; whether there is a place then. */
  private boolean makePlace(long most) {
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
