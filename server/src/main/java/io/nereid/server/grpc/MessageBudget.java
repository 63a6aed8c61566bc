package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.AtomicLong;

/** The bytes of unfinished messages that all connections may hold together. */
final class MessageBudget {

  private final long bytes;
  private final AtomicLong taken = new AtomicLong();

  MessageBudget(long bytes) {
    this.bytes = bytes;
  }

  /** Half of the direct memory: the other half is for replies, and what is read just now. */
  static MessageBudget ofThisProcess() {
    return new MessageBudget(PlatformDependent.maxDirectMemory() / 2);
  }

  /** What is held now. */
  long taken() {
    return taken.get();
  }

  /**
   * Takes more, or gives back where that is negative; false when there is not as much, or never
   * will be for a message of that length.
   */
  boolean take(long more, long length) {
    if (length > bytes) {
      return false;
    }
    if (taken.addAndGet(more) > bytes && more > 0) {
      taken.addAndGet(-more);
      return false;
    }
    return true;
  }

  void giveBack(long part) {
    taken.addAndGet(-part);
  }

  /** Why a message of that length was refused. */
  String refusal(long length) {
    return length > bytes
        ? "expected a message of at most " + bytes + " bytes, got " + length + advice()
        : "unfinished messages hold "
            + taken.get()
            + " of the "
            + bytes
            + " bytes that there are for them"
            + advice();
  }

  private static String advice() {
    return "; --grpc-max-total-input-size sets the limit";
  }
}
