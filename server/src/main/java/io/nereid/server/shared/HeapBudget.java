package io.nereid.server.shared;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Heap memory that all connections and requests may hold together. A connection counts with the
 * heap that it holds while open, a request with the parts that grow with its body or reply: long
 * strings, elements of BYTES tensors, data in front of its description, JSON that is to be sent.
 * Called by all threads.
 */
public final class HeapBudget {

  private static final HeapBudget PROCESS = new HeapBudget(Runtime.getRuntime().maxMemory() / 2);

  private final long requestBytes;
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();

  /** Makes a budget of that many bytes for requests, and a quarter more with connections. */
  public HeapBudget(long requestBytes) {
    this.requestBytes = requestBytes;
  }

  /**
   * The budget of this process, which its servers share. Requests may hold half of the heap, and
   * together with connections five eighths: the rest is for garbage of requests, and all else.
   */
  public static HeapBudget ofThisProcess() {
    return PROCESS;
  }

  /** The most that requests may hold. */
  public long requestBytes() {
    return requestBytes;
  }

  /** The most that connections may hold, when requests hold little. */
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

  /** Takes bytes for a request; false: too few are left. */
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

  /** Takes bytes for a connection; false: too few are left. */
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
