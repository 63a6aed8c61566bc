package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent;
import io.nereid.server.shared.HeapBudget;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts bytes of one kind that all messages may hold together, and refuses what is too much. Any
 * thread may take bytes, and who took some gives them back.
 */
final class MessageBudget {

  /**
   * Parts of messages that stand on the heap in one piece: tensors in front of what describes them,
   * BYTES in typed form, files of models. Reading and joining them takes up to three times as much,
   * which counts among what all requests hold of the heap.
   */
  static final MessageBudget HEAP =
      new MessageBudget(
          Runtime.getRuntime().maxMemory() / 8,
          HeapBudget.ofThisProcess(),
          "messages hold on the heap",
          "send tensors raw and behind what describes them, or start the server with a larger heap"
              + " (-Xmx)");

  /** Reading and joining a part takes so many times its length of the heap. */
  private static final int COPIES = 3;

  private final long bytes;
  private final HeapBudget heap; // null: it is no heap that is held
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
   * For messages that have begun to arrive.
   *
   * @param bytes 0 for half of the direct memory: the other half is for replies, and what is read
   */
  static MessageBudget ofUnfinished(long bytes) {
    return new MessageBudget(
        bytes == 0 ? PlatformDependent.maxDirectMemory() / 2 : bytes,
        null,
        "unfinished messages hold",
        "--grpc-max-total-input-size sets the limit");
  }

  /** All that there is. */
  long most() {
    return bytes;
  }

  /** The bytes that are held now. */
  long taken() {
    return taken.get();
  }

  /** True if a message of that length can ever have its place. */
  boolean fits(long length) {
    return length <= bytes;
  }

  /** Takes more, or gives back where that is negative; false when there is not as much. */
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
