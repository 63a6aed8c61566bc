package io.nereid.server.grpc;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;

/**
 * What one message takes of the heap for its arrays: of a budget, if it is much. For one thread.
 */
final class MessageHeap {

  private final MessageBudget budget; // null: there is no limit
  private int freeBytes; // that need no budget
  private long takenBytes; // for all others

  MessageHeap(MessageBudget budget, int freeBytes) {
    this.budget = budget;
    this.freeBytes = freeBytes;
  }

  void take(int length) {
    if (length <= freeBytes || budget == null) {
      freeBytes -= length;
      return;
    }
    if (!budget.fits(length) || !budget.take(length)) {
      throw new NereidException(StatusCode.RESOURCE_EXHAUSTED, budget.refusal(length));
    }
    takenBytes += length;
  }

  /** Gives back what was taken: the arrays are not needed any more. */
  void giveBack() {
    if (takenBytes > 0) {
      budget.giveBack(takenBytes);
      takenBytes = 0;
    }
  }
}
