package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent;
import java.util.concurrent.atomic.AtomicLong;

/** Bytes of one kind that all messages may hold together. */
final class MessageBudget {

  /**
   * Parts of messages that stand on the heap in one piece: tensors in front of what describes them,
   * BYTES in typed form, files of models. Reading and joining them takes up to three times as much.
   */
  static final MessageBudget HEAP =
      new MessageBudget(
          Runtime.getRuntime().maxMemory() / 8,
          "messages hold on the heap",
          "send tensors raw and behind what describes them, or start the server with a larger heap"
              + " (-Xmx)");

  private final long bytes;
  private final String holders;
  private final String advice;
  private final AtomicLong taken = new AtomicLong();

  private MessageBudget(long bytes, String holders, String advice) {
    this.bytes = bytes;
    this.holders = holders;
    this.advice = advice;
  }

  /**
   * For messages that have begun to arrive.
   *
   * @param bytes 0 for half of the direct memory: the other half is for replies, and what is read
   */
  static MessageBudget ofUnfinished(long bytes) {
    return new MessageBudget(
        bytes == 0 ? PlatformDependent.maxDirectMemory() / 2 : bytes,
        "unfinished messages hold",
        "--grpc-max-total-input-size sets the limit");
  }

  /** All that there is. */
  long most() {
    return bytes;
  }

  /** What is held now. */
  long taken() {
    return taken.get();
  }

  /** Whether a message of that length can ever have its place. */
  boolean fits(long length) {
    return length <= bytes;
  }

  /** Takes more, or gives back where that is negative; false when there is not as much. */
  boolean take(long more) {
    if (taken.addAndGet(more) > bytes && more > 0) {
      taken.addAndGet(-more);
      return false;
    }
    return true;
  }

  void giveBack(long part) {
    taken.addAndGet(-part);
  }

  /** Why a message that wanted so much was refused. */
  String refusal(long wanted) {
    String why =
        fits(wanted)
            ? holders + " " + taken.get() + " of the " + bytes + " bytes that there are for them"
            : "expected a message of at most " + bytes + " bytes, got " + wanted;
    return why + "; " + advice;
  }
}
