package io.nereid.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Heap memory that all requests may hold together beyond the little that each connection has of its
 * own. Only what grows with a body or a reply counts: long strings, elements of BYTES tensors, data
 * in front of its description, JSON that is to be sent.
 */
final class HeapBudget {

  private final long bytes;
  private final AtomicLong taken = new AtomicLong();

  HeapBudget(long bytes) {
    this.bytes = bytes;
  }

  /** Half of the heap: the other half is for the garbage of requests, and everything else. */
  static HeapBudget ofThisProcess() {
    return new HeapBudget(Runtime.getRuntime().maxMemory() / 2);
  }

  /** What requests hold now. */
  long taken() {
    return taken.get();
  }

  /** What one request after the other holds of it. */
  Share share() {
    return new Share();
  }

  /** Of one request at a time, used by its thread. */
  final class Share {

    private long held;

    private Share() {}

    /** Takes more; fails when there is not as much. */
    void take(long more) {
      if (taken.addAndGet(more) > bytes) {
        taken.addAndGet(-more);
        throw refusal(held + more);
      }
      held += more;
    }

    private HttpFailure refusal(long wanted) {
      if (wanted > bytes) {
        return HttpFailure.closing(
            Status.CONTENT_TOO_LARGE,
            "the request needs more than the "
                + bytes
                + " bytes of heap memory that there are for all requests. Send large tensors as"
                + " binary data, or start the server with a larger heap (-Xmx).");
      }
      return HttpFailure.closing(
          Status.UNAVAILABLE,
          "requests hold "
              + taken.get()
              + " of the "
              + bytes
              + " bytes of heap memory that there are for them, and this one needs "
              + wanted
              + ". Send large tensors as binary data, or start the server with a larger heap"
              + " (-Xmx).");
    }

    /** A part is free again. */
    void giveBack(long part) {
      taken.addAndGet(-part);
      held -= part;
    }

    /** The request is done with. */
    void giveBack() {
      if (held > 0) {
        giveBack(held);
      }
    }
  }
}
