package io.nereid.server.grpc;

import io.nereid.server.shared.HeapBudget;

/**
 * What a call's messages that are not complete hold, as the budgets have it. Everything is called
 * on the loop of the call's connection.
 */
final class HeldBytes {

  private final MessageBudget budget;
  private final HeapBudget heap;
  private long bytes;
  private int heapBytes; // of them, on the heap

  HeldBytes(MessageBudget budget, HeapBudget heap) {
    this.budget = budget;
    this.heap = heap;
  }

  /** Holds so many from now on; gives why that is refused, or null. */
  String hold(long wanted, int onHeap) {
    if (!budget.take(wanted - bytes)) {
      return budget.refusal(wanted);
    }
    bytes = wanted;
    int more = onHeap - heapBytes;
    if (more > 0 && !heap.take(more)) {
      return "there is no heap left for a message that is not complete";
    }
    if (more < 0) {
      heap.giveBack(-more);
    }
    heapBytes = onHeap;
    return null;
  }

  /** Holds nothing any more. */
  void giveBack() {
    budget.giveBack(bytes);
    heap.giveBack(heapBytes);
    bytes = 0;
    heapBytes = 0;
  }
}
