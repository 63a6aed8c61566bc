package io.nereid.server.shared;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the connections to one port that failed before a request of theirs could be answered, by
 * the reason. From any thread.
 */
public final class ConnectionFailures {

  /** The reasons, as metrics call them in small letters. */
  public enum Reason {
    /** There were as many connections as there may be. */
    LIMIT,
    /** There was no heap for another connection. */
    MEMORY,
    /** The process had no descriptor to accept it with. */
    ACCEPT,
    /** The client and the server did not agree on encryption, or the client left meanwhile. */
    TLS,
    /** A handshake or the head of a request did not come in time. */
    TIMEOUT,
    /** The client speaks something else than the port does. */
    PROTOCOL
  }

  private final AtomicLongArray counts = new AtomicLongArray(Reason.values().length);

  ConnectionFailures() {}

  /** Counts one. */
  public void add(Reason reason) {
    counts.incrementAndGet(reason.ordinal());
  }

  /** The number of connections that failed so. */
  public long count(Reason reason) {
    return counts.get(reason.ordinal());
  }
}
