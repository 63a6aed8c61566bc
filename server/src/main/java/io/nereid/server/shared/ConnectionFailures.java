package io.nereid.server.shared;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts, by reason, the connections to one port that failed before a request could be answered.
 * Any thread may call.
 */
public final class ConnectionFailures {

  /** The reasons; metrics name them in lower case. */
  public enum Reason {
    /** The limit of connections was reached. */
    LIMIT,
    /** There was no heap for another connection. */
    MEMORY,
    /** The process had no descriptor left to accept the connection. */
    ACCEPT,
    /**
     * The client and the server did not agree on encryption, or the client left during the
     * handshake.
     */
    TLS,
    /** A handshake or the head of a request did not come in time. */
    TIMEOUT,
    /** The client does not speak the port's protocol. */
    PROTOCOL
  }

  private final AtomicLongArray counts = new AtomicLongArray(Reason.values().length);

  ConnectionFailures() {}

  /** Counts one. */
  public void add(Reason reason) {
    counts.incrementAndGet(reason.ordinal());
  }

  /** The number of connections that failed for this reason. */
  public long count(Reason reason) {
    return counts.get(reason.ordinal());
  }
}
