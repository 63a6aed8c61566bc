package io.nereid.server.http;

import io.nereid.server.shared.HeapBudget;

/** What one request after the other holds of the heap's budget. Used by the request's thread. */
final class HeapShare {

  private final HeapBudget budget;
  private long held;

  HeapShare(HeapBudget budget) {
    this.budget = budget;
  }

  /** Takes more; fails when there is not as much. */
  void take(long more) {
    if (!budget.take(more)) {
      throw refusal(held + more);
    }
    held += more;
  }

  private HttpFailure refusal(long wanted) {
    if (wanted > budget.requestBytes()) {
      return HttpFailure.closing(
          Status.CONTENT_TOO_LARGE,
          "the request needs more than the "
              + budget.requestBytes()
              + " bytes of heap memory that there are for all requests. Send large tensors as"
              + " binary data, or start the server with a larger heap (-Xmx).");
    }
    return HttpFailure.closing(
        Status.UNAVAILABLE,
        "requests hold "
            + budget.takenByRequests()
            + " of the "
            + budget.requestBytes()
            + " bytes of heap memory that there are for them, and this one needs "
            + wanted
            + ". Send large tensors as binary data, or start the server with a larger heap"
            + " (-Xmx).");
  }

  /** A part is free again. */
  void giveBack(long part) {
    budget.giveBack(part);
    held -= part;
  }

  /** The request is done with. */
  void giveBack() {
    if (held > 0) {
      giveBack(held);
    }
  }
}
