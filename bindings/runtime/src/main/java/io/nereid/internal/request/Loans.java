package io.nereid.internal.request;

import java.lang.foreign.MemorySegment;

/** In the checked mode: what a slot's handles have lent, each until it is closed. Any threads. */
final class Loans {

  private record Loan(long generation, LentMemory memory) {}

  // Of the handle that is open, or is just being closed. Guarded by this.
  private Loan request;
  private Loan response;

  /** {@code memory} as the holder of a handle may use it; throws when that is closed. */
  synchronized MemorySegment lend(Slot slot, long generation, int bit, MemorySegment memory) {
    slot.enter(generation, bit);
    try {
      Loan loan = loan(bit);
      if (loan == null || loan.generation != generation) {
        takeBack(loan);
        loan = new Loan(generation, new LentMemory());
        set(bit, loan);
      }
      return loan.memory.as(memory);
    } finally {
      slot.exit();
    }
  }

  /** The handle was closed. The slot may serve another generation by now, whose loan stays. */
  synchronized void takeBack(long generation, int bit) {
    Loan loan = loan(bit);
    if (loan != null && loan.generation == generation) {
      set(bit, null);
      takeBack(loan);
    }
  }

  private static void takeBack(Loan loan) {
    if (loan != null) {
      loan.memory.takeBack();
    }
  }

  private Loan loan(int bit) {
    return bit == Slot.REQUEST ? request : response;
  }

  private void set(int bit, Loan loan) {
    if (bit == Slot.REQUEST) {
      request = loan;
    } else {
      response = loan;
    }
  }
}
