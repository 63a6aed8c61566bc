package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent;
import io.nereid.server.shared.HeapBudget;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes of one kind that all messages hold together. Any thread may take bytes, and
 * gives back those that it took.
 */
final class MessageBudget {

  /**
   * The budget for message parts that are on the heap in one piece: tensors that precede their
   * description, BYTES in typed form, files of models; for parsed messages without tensors; and for
   * what requests keep until they are answered. Reading and joining takes up to three times as
   * much, which counts as requests' heap.
   */
  static final MessageBudget HEAP =
      new MessageBudget(
          Runtime.getRuntime().maxMemory() / 8,
          HeapBudget.ofThisProcess(),
          "messages hold on the heap",
          "send tensors raw and behind what describes them, or start the server with a larger heap"
              + " (-Xmx)");

  /** The heap for reading and joining a part, as a multiple of its length. */
  private static final int COPIES = 3;

  private final long bytes;
  private final HeapBudget heap; // null: the bytes are not on the heap
  private final String holders;
  private final String advice;
  private final AtomicLong taken = new AtomicLong();

  private MessageBudget(long bytes, HeapBudget heap, String holders, String advice) {
    this.bytes = bytes;
    this.heap = heap;
    this.holders = holders;
    this.advice = advice;
  }

  /**
   * Makes the budget for messages that have begun to arrive.
   *
   * @param bytes 0: half of the direct memory, of which replies and reading use the other half
   */
  static MessageBudget ofUnfinished(long bytes) {
    return new MessageBudget(
        bytes == 0 ? PlatformDependent.maxDirectMemory() / 2 : bytes,
        null,
        "unfinished messages hold",
        "--grpc-max-total-input-size sets the limit");
  }

  /** The size of the budget. */
  long most() {
    return bytes;
  }

  /** The bytes that are held now. */
  long taken() {
    return taken.get();
  }

  /** True if a message of that length can ever fit. */
  boolean fits(long length) {
    return length <= bytes;
  }

  /** Takes bytes, or gives back if negative; false if too few are left. */
  boolean take(long more) {
    if (more <= 0) {
      giveBack(-more);
      return true;
    }
    if (taken.addAndGet(more) <= bytes && (heap == null || heap.take(COPIES * more))) {
      return true;
    }
    taken.addAndGet(-more);
    return false;
  }

  void giveBack(long part) {
    taken.addAndGet(-part);
    if (heap != null) {
      heap.giveBack(COPIES * part);
    }
  }

  /** The text for a message that wanted so much and was refused. */
  String refusal(long wanted) {
    String why =
        fits(wanted)
            ? holders
                + " "
                + taken.get()
                + " of the "
                + bytes
                + " bytes that there are for them"
                + (heap == null ? "" : ", or other requests hold too much of it")
            : "expected a message of at most " + bytes + " bytes, got " + wanted;
    return why + "; " + advice;
  }
}
