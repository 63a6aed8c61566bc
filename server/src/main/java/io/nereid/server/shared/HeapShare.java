package io.nereid.server.shared;

/**
 * The part of the heap's budget that a connection's present request holds. Used by the thread that
 * serves the request.
 */
public final class HeapShare {

  /** There is not enough heap memory for a request. The message is for the client. */
  public static final class Exhausted extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean passing;

    private Exhausted(String message, boolean passing) {
      super(message, null, false, false);
      this.passing = passing;
    }

    /** True if there may be enough later; false: the request alone exceeds the budget. */
    public boolean isPassing() {
      return passing;
    }
  }

  private final HeapBudget budget;
  private long held;

  /** Makes a share of a budget; nothing is taken so far. */
  public HeapShare(HeapBudget budget) {
    this.budget = budget;
  }

  /** Takes more; throws if too little is left. */
  public void take(long more) {
    if (!budget.take(more)) {
      throw refusal(held + more);
    }
    held += more;
  }

  private Exhausted refusal(long wanted) {
    if (wanted > budget.requestBytes()) {
      return new Exhausted(
          "the request needs more than the "
              + budget.requestBytes()
              + " bytes of heap memory that there are for all requests. Send large tensors as"
              + " binary data, or start the server with a larger heap (-Xmx).",
          false);
    }
    return new Exhausted(
        ("requests hold %s of the %s bytes of heap memory that there are for them, and "
                + "this one needs %s. Send large tensors as binary data, or start the server "
                + "with a larger heap (-Xmx).")
            .formatted(budget.takenByRequests(), budget.requestBytes(), wanted),
        true);
  }

  /** Gives back a part. */
  public void giveBack(long part) {
    budget.giveBack(part);
    held -= part;
  }

  /** Gives back everything at the end of the request. */
  public void giveBack() {
    if (held > 0) {
      giveBack(held);
    }
  }
}
