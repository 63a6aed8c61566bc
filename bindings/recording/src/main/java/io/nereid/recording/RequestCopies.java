package io.nereid.recording;

import io.nereid.model.RequestObserver.Outcome;
import io.nereid.model.SentRequest;
import java.nio.BufferOverflowException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/**
 * Copies requests that have ended into a ring, on the threads that complete them, which never wait;
 * what does not fit is dropped and counted.
 */
final class RequestCopies {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final MessageRing ring;
  private final Set<String> redacted;
  private final boolean outputs;
  private final long startNs;
  private final LongAdder dropped;
  private volatile boolean closed;

  /**
   * For a ring that one thread reads.
   *
   * @param redacted names whose values are not copied
   * @param outputs whether outputs are copied, too
   * @param startNs from which times count, by {@link System#nanoTime}
   */
  RequestCopies(
      MessageRing ring, Set<String> redacted, boolean outputs, long startNs, LongAdder dropped) {
    this.ring = ring;
    this.redacted = redacted;
    this.outputs = outputs;
    this.startNs = startNs;
    this.dropped = dropped;
  }

  /** Copies a request that has just ended, and whose memory is still its own; false: dropped. */
  boolean add(SentRequest request, Outcome outcome, long sentNs) {
    long endNs = System.nanoTime();
    MessageDraft draft = new MessageDraft(redacted, outputs, ring.mostBytes());
    try {
      draft.describe(request, outcome, startNs, sentNs, endNs);
    } catch (BufferOverflowException e) {
      dropped.increment();
      return false;
    }
    try {
      return hand(draft);
    } catch (IllegalStateException e) {
      if (!closed) {
        throw e;
      }
      dropped.increment(); // it ended after the ring did
      return false;
    }
  }

  private boolean hand(MessageDraft draft) {
    long size = draft.byteSize();
    long claimed = ring.claim(size);
    if (claimed < 0) {
      dropped.increment();
      return false;
    }
    boolean written = false;
    try {
      draft.writeTo(ring.room(claimed, size));
      written = true;
      return true;
    } finally {
      if (written) {
        ring.publish(claimed, size);
      } else {
        dropped.increment();
        ring.abandon(claimed, size);
      }
    }
  }

  /**
   * Gives the ring's memory back once the thread that reads it has ended. The thread was told to,
   * and nothing more is copied.
   */
  void closeAfter(Thread reader) {
    try {
      if (reader.join(PATIENCE)) {
        closed = true;
        ring.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the memory stays until the process ends
    }
  }
}
