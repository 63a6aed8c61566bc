package io.nereid.server.grpc;

import io.nereid.server.wire.ArrivedBytes;
import io.nereid.server.wire.EventConnection;
import io.nereid.server.wire.LoopStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;

/**
 * A long message of a call while it comes. If all is there that describes its last content, and
 * that content reaches to its end, the message is read at once, on the connection's loop, and the
 * rest goes to the content's memory as it comes. Any other message is read by a thread of its own,
 * which waits; what comes goes where that thread wants it. The state is guarded by the connection's
 * lock.
 */
final class LongMessage<Q> {

  /** How it is read, on whatever thread. */
  interface Reading<Q> {
    Q read(InputStream bytes, boolean compressed) throws IOException;
  }

  /** Whoever has the call's messages; called on the connection's loop. */
  interface Owner<Q> {
    /** The message was read, or cannot be. */
    void ended(Q message, Throwable failure);
  }

  private final Reading<Q> reading;
  private final LoopStream stream;
  private final ArrivedBytes waiting; // of the call, that nobody has used
  private final int length;
  private final Owner<Q> owner;

  private int left; // bytes that were not read
  private ByteBuffer target; // where the next ones belong; null: nobody has said so
  private boolean targetFills; // nobody wants to hear of less than all of it
  private boolean isCut; // nothing more comes, or nobody wants it
  private Condition arrived; // null: it has no thread
  private Q late; // was read at once, but for what the target lacks; null: it was not
  private Throwable failed; // why it could not be

  LongMessage(
      Reading<Q> reading, LoopStream stream, ArrivedBytes waiting, int length, Owner<Q> owner) {
    this.reading = reading;
    this.stream = stream;
    this.waiting = waiting;
    this.length = length;
    this.owner = owner;
    left = length;
  }

  /** Bytes of it, as its call says. */
  int length() {
    return length;
  }

  /** How many of them were not read. */
  int left() {
    return left;
  }

  // ---- On the loop -----------------------------------------------------------------------------

  /** Reads it with what is here of it, which is used then. False: that is not enough. */
  boolean readAtOnce(ByteBuffer here) {
    BegunMessage bytes = new BegunMessage(here.slice(), length);
    Q message = null;
    Throwable failure = null;
    try {
      message = reading.read(bytes, false);
    } catch (BegunMessage.Unread e) {
      return false;
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
    left -= here.remaining();
    target = bytes.rest();
    targetFills = true;
    late = message;
    failed = failure;
    return true;
  }

  /** Tells its owner, if it was read at once, and wanted no more than was here. */
  void tellIfEnded() {
    if (target == null) {
      tellEnd();
    }
  }

  private void tellEnd() {
    Q message = late;
    late = null;
    owner.ended(message, failed);
  }

  /** Has a thread read it. */
  void startThread(boolean compressed) {
    arrived = stream.connection().lock().newCondition();
    Thread.ofVirtual().name("nrd-grpc-message").start(() -> read(compressed));
  }

  /** Whether it is known where the next bytes belong. */
  boolean hasTarget() {
    return target != null;
  }

  /** Puts the next bytes where they belong; what is left has no place yet. */
  void take(ByteBuffer data) {
    int count = Math.min(target.remaining(), data.remaining());
    target.put(target.position(), data, data.position(), count);
    target.position(target.position() + count);
    data.position(data.position() + count);
    left -= count;
    if (targetFills && target.hasRemaining()) {
      return;
    }
    target = null;
    if (arrived != null) {
      arrived.signalAll();
    } else {
      tellEnd();
    }
  }

  /** Nothing more comes; whether that ends it at once. */
  boolean cut() {
    isCut = true;
    if (arrived != null) {
      arrived.signalAll();
    }
    return arrived == null;
  }

  /**
   * Nobody wants it any more. It may own memory: what a thread reads of it is told all the same.
   */
  void giveUp() {
    cut();
    if (late instanceof IncomingRequest request) {
      target = null;
      late = null;
      request.close();
    }
  }

  // ---- On its thread ---------------------------------------------------------------------------

  private void read(boolean compressed) {
    Q message = null;
    Throwable failure = null;
    try {
      message = reading.read(new MessageStream(this), compressed);
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
    Q read = message;
    Throwable why = failure;
    stream.connection().onLoop(() -> owner.ended(read, why));
  }

  /** Reads some, or as much as there is room for; below 0: there is none left. */
  int read(ByteBuffer to, boolean fills) throws IOException {
    EventConnection connection = stream.connection();
    connection.lock().lock();
    try {
      if (left == 0) {
        return -1;
      }
      int from = to.position();
      if (to.remaining() > left) {
        to.limit(from + left);
      }
      int kept = Math.min(waiting.count(), to.remaining());
      if (kept > 0) {
        waiting.moveTo(to);
        left -= kept;
        stream.consumed(kept);
        connection.handOver();
      }
      if (to.position() == from || (fills && to.hasRemaining())) {
        awaitMore(to, fills);
      }
      return to.position() - from;
    } finally {
      connection.lock().unlock();
    }
  }

  private void awaitMore(ByteBuffer to, boolean fills) throws IOException {
    target = to;
    targetFills = fills;
    while (target != null && !isCut) {
      arrived.awaitUninterruptibly();
    }
    boolean isThere = target == null;
    target = null;
    if (!isThere) {
      throw new IOException("the message ends too early");
    }
  }
}
