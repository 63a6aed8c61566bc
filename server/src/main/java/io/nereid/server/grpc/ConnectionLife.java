package io.nereid.server.grpc;

import io.nereid.server.wire.EventConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How long a connection lives: pings its client when it is silent, has it connect again at some
 * age, and sends one away that pings too often, all by {@link GrpcKeepAlive}. Everything is called
 * on the connection's loop.
 */
final class ConnectionLife {

  /** How often a client may ping that has no calls, unless it may do so as with calls. */
  private static final long IDLE_INTERVAL_NS = TimeUnit.HOURS.toNanos(2);

  /** Pings that come too early before the client has to go. */
  private static final int MOST_EARLY = 2;

  /** Connections that were made together do not end together. */
  private static final double AGE_SPREAD = 0.1;

  /** A ping, or its answer. */
  private static final int PING_BYTES = 17;

  private static final long NEVER_NS = Long.MAX_VALUE / 4;

  private final GrpcKeepAlive times;
  private final EventConnection connection;
  private final long startNs = System.nanoTime();
  private final long mostAgeNs;
  private final long graceNs;

  private boolean isAged;
  private long heardNs = startNs;
  private long pingedNs; // when the client was pinged; 0: it has answered
  private long sentBytes = -PING_BYTES; // when it pinged last
  private long clientPingNs = startNs - IDLE_INTERVAL_NS; // the last one that was not early
  private int earlyCount;

  ConnectionLife(GrpcKeepAlive times, EventConnection connection) {
    this.times = times;
    this.connection = connection;
    double spread = 1 + AGE_SPREAD * (2 * ThreadLocalRandom.current().nextDouble() - 1);
    mostAgeNs = (long) (nanos(times.maxAge()) * spread);
    graceNs = nanos(times.maxAgeGrace());
  }

  private static long nanos(Optional<Duration> time) {
    return time.map(ConnectionLife::nanos).orElse(NEVER_NS);
  }

  private static long nanos(Duration time) {
    return time.toSeconds() >= TimeUnit.NANOSECONDS.toSeconds(NEVER_NS) ? NEVER_NS : time.toNanos();
  }

  /** Something came of the client. */
  void heard() {
    heardNs = System.nanoTime();
    pingedNs = 0;
  }

  /**
   * The client pings; gives what is expected of one that does so too often. It may whenever it gets
   * something in between: so clients find out how large their windows are to be.
   */
  String pinged() {
    long nowNs = System.nanoTime();
    boolean isUsual = connection.hasStreams() || times.pingsWithoutCalls();
    long intervalNs = isUsual ? nanos(times.leastPingInterval()) : IDLE_INTERVAL_NS;
    long before = sentBytes;
    sentBytes = connection.sentBytes();
    boolean gotMore = sentBytes - before > PING_BYTES; // than an answer to its last ping
    earlyCount = gotMore ? 0 : earlyCount;
    if (gotMore || nowNs - clientPingNs >= intervalNs) {
      clientPingNs = nowNs;
      return null;
    }
    return ++earlyCount > MOST_EARLY ? "too_many_pings" : null;
  }

  /** Does what is due; gives when something will be. */
  long look(long nowNs) {
    return Math.min(lookAtAge(nowNs), lookAtSilence(nowNs));
  }

  private long lookAtAge(long nowNs) {
    long ageNs = nowNs - startNs;
    if (ageNs < mostAgeNs) {
      return startNs + mostAgeNs;
    }
    if (!isAged) {
      isAged = true;
      connection.goAway("max_age");
    }
    long endNs = Math.min(NEVER_NS, mostAgeNs + graceNs);
    if (ageNs >= endNs) {
      connection.close();
      return nowNs + NEVER_NS;
    }
    return startNs + endNs;
  }

  private long lookAtSilence(long nowNs) {
    long timeoutNs = nanos(times.pingTimeout());
    if (pingedNs == 0) {
      long dueNs = heardNs + nanos(times.pingAfter());
      if (nowNs - dueNs < 0) {
        return dueNs;
      }
      connection.ping();
      pingedNs = nowNs | 1;
    } else if (nowNs - pingedNs >= timeoutNs) {
      connection.close();
    }
    return pingedNs + timeoutNs;
  }
}
