package io.nereid.server.wire;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * All connections of a port, and the streams of those that speak HTTP/2, and the thread that looks
 * after them.
 */
public final class ConnectionWatch implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(ConnectionWatch.class.getName());

  /** How often: a client that went away is noticed this late. */
  private static final long TICK_NS = 20_000_000;

  private final Set<ConnectionGuard> connections = ConcurrentHashMap.newKeySet();
  private final Set<ConnectionGuard> streams = ConcurrentHashMap.newKeySet();
  private final BusyReaders readers;
  private final ReadingRounds rounds;
  private final AtomicInteger connectionCount = new AtomicInteger();
  private final AtomicInteger streamCount = new AtomicInteger();
  private final Thread thread;
  private volatile boolean closed;

  /** With no connection, and a thread that waits for one: {@code name-watch}. */
  public ConnectionWatch(String name) {
    readers = new BusyReaders(name + "-reader");
    rounds = new ReadingRounds(readers);
    thread = Thread.ofPlatform().daemon().name(name + "-watch").start(this::run);
  }

  /** Threads of the platform for who reads all the time. */
  BusyReaders readers() {
    return readers;
  }

  /** The threads that read several connections each. */
  ReadingRounds rounds() {
    return rounds;
  }

  /** How many connections there are. */
  public int count() {
    return connectionCount.get();
  }

  /** Takes a connection; how many there are with it. */
  int add(ConnectionGuard connection) {
    connections.add(connection);
    LockSupport.unpark(thread); // which has none to look after while there are no connections
    return connectionCount.incrementAndGet();
  }

  void remove(ConnectionGuard connection) {
    connections.remove(connection);
    connectionCount.decrementAndGet();
  }

  /** Takes a stream of a connection, unless there are {@code most}; whether it did. */
  boolean addStream(ConnectionGuard stream, int most) {
    if (streamCount.incrementAndGet() > most) {
      streamCount.decrementAndGet();
      return false;
    }
    streams.add(stream);
    return true;
  }

  void removeStream(ConnectionGuard stream) {
    streams.remove(stream);
    streamCount.decrementAndGet();
  }

  boolean isBusy() {
    return !streams.isEmpty() || connections.stream().anyMatch(ConnectionGuard::isBusy);
  }

  /** Has clients told that the server is about to stop, where the protocol has a way to. */
  void announceStop() {
    connections.forEach(ConnectionGuard::announceStop);
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
    streams.forEach(ConnectionGuard::abort);
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
        streams.forEach(stream -> tick(stream, nowUs));
      } catch (OutOfMemoryError e) {
        // Some request took it all, and fails: the next look is as good.
      }
      LockSupport.parkNanos(this, TICK_NS);
    }
  }

  /**
   * One connection that goes wrong must not take the watch from the others: without it no limit of
   * time would hold any more. An Error goes wrong too, such as that of having no memory to read.
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
