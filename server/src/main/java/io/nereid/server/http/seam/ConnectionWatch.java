package io.nereid.server.http.seam;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * All connections of a port, and the thread that watches them: it ends waits that take too long,
 * and detects clients that went away while their request runs.
 */
public final class ConnectionWatch implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(ConnectionWatch.class.getName());

  /** The time between two ticks, after which a client that went away is noticed. */
  private static final long TICK_NS = 20_000_000;

  private final Set<ConnectionGuard> connections = ConcurrentHashMap.newKeySet();
  private final RepeatRounds rounds = new RepeatRounds();
  private final AtomicInteger connectionCount = new AtomicInteger();
  private final Thread thread;
  private volatile boolean closed;

  /** Makes a watch without connections, and its thread {@code name-watch}. */
  public ConnectionWatch(String name) {
    thread = Thread.ofPlatform().daemon().name(name + "-watch").start(this::run);
  }

  /** The threads that serve repeats. */
  RepeatRounds rounds() {
    return rounds;
  }

  /** The number of connections. */
  public int count() {
    return connectionCount.get();
  }

  /** Adds a connection; returns their number. */
  int add(ConnectionGuard connection) {
    connections.add(connection);
    LockSupport.unpark(thread); // the thread sleeps while there are no connections
    return connectionCount.incrementAndGet();
  }

  void remove(ConnectionGuard connection) {
    connections.remove(connection);
    connectionCount.decrementAndGet();
  }

  boolean isBusy() {
    return connections.stream().anyMatch(ConnectionGuard::isBusy);
  }

  void closeIdle() {
    for (ConnectionGuard connection : connections) {
      if (!connection.isBusy()) {
        connection.close();
      }
    }
  }

  void closeAll() {
    connections.forEach(ConnectionGuard::close);
  }

  void abortAll() {
    connections.forEach(ConnectionGuard::abort);
  }

  private void run() {
    while (!closed) {
      if (connections.isEmpty()) {
        LockSupport.park(this);
        continue;
      }
      try {
        rounds.look();
        long nowUs = ConnectionGuard.nowUs();
        connections.forEach(connection -> tick(connection, nowUs));
      } catch (OutOfMemoryError e) {
        // Some request took all memory and fails: the next tick will do.
      }
      LockSupport.parkNanos(this, TICK_NS);
    }
  }

  /**
   * Checks one connection, catching everything, even an OutOfMemoryError: if the watch died, no
   * time limit of any connection would hold.
   */
  private static void tick(ConnectionGuard connection, long nowUs) {
    try {
      connection.tick(nowUs);
    } catch (RuntimeException | Error e) {
      connection.close();
      LOGGER.log(Level.ERROR, "a connection could not be looked after", e);
    }
  }

  @Override
  public void close() {
    closed = true;
    rounds.close();
    LockSupport.unpark(thread);
  }
}
