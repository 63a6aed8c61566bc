package io.nereid.server.shared;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Heap memory that all connections and requests may hold together. A connection counts with what it
 * holds while it is open, a request with what grows with its body or its reply: long strings,
 * elements of BYTES tensors, data in front of its description, JSON that is to be sent. Called by
 * all threads.
 */
public final class HeapBudget {

  private static final HeapBudget PROCESS = new HeapBudget(Runtime.getRuntime().maxMemory() / 2);

  private final long requestBytes;
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();

  /** One of that many bytes for requests, and a quarter more with connections. */
  public HeapBudget(long requestBytes) {
    this.requestBytes = requestBytes;
  }

  /**
   * The one of this process, whose servers share its heap. Requests may hold half of that, and with
   * connections five eighths of it: the rest is for the garbage of requests, and everything else.
   */
  public static HeapBudget ofThisProcess() {
    return PROCESS;
  }

  /** All that requests may hold. */
  public long requestBytes() {
    return requestBytes;
  }

  /** All that connections may hold, when requests hold little. */
  public long connectionBytes() {
    return requestBytes / 4 * 3;
  }

  /** The bytes that requests hold now. */
  public long takenByRequests() {
    return requests.get();
  }

  /** The bytes that connections hold now. */
  public long takenByConnections() {
    return connections.get();
  }

  /** Takes some for a request; false: there is not as much. */
  public boolean take(long more) {
    if (requests.addAndGet(more) <= requestBytes && fits()) {
      return true;
    }
    giveBack(more);
    return false;
  }

  /** Gives back what {@link #take} took. */
  public void giveBack(long part) {
    requests.addAndGet(-part);
  }

  /** Takes some for a connection; false: there is not as much. */
  public boolean takeForConnection(long more) {
    if (connections.addAndGet(more) <= connectionBytes() && fits()) {
      return true;
    }
    giveBackOfConnection(more);
    return false;
  }

  /** Gives back what {@link #takeForConnection} took. */
  public void giveBackOfConnection(long part) {
    connections.addAndGet(-part);
  }

  private boolean fits() {
    return requests.get() + connections.get() <= requestBytes / 4 * 5;
  }
}
