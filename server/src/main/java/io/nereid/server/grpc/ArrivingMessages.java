package io.nereid.server.grpc;

import io.grpc.Status;
import io.nereid.server.wire.ArrivedBytes;
import io.nereid.server.wire.LoopStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The messages of one call as they come, each with five bytes in front: whether it is compressed,
 * and its length. One that came by one read is read from where that put it. A short one waits until
 * it is there. A long one is read while it comes, so that its tensors go straight to their memory.
 * What is there of messages that are not complete counts in a budget of all connections, and each
 * has a time to get on. Reading a long message happens on its thread, everything else on the
 * connection's loop.
 */
final class ArrivingMessages<Q> {

  /** How much of a message has to arrive within its time, where that is not all. */
  static final long PROGRESS_BYTES = 1 << 20;

  private static final int PREFIX_BYTES = 5;

  private static final String CUT =
      "expected the rest of a message, got the end of the call's input";

  /** Longer ones are read before they are there as a whole. */
  private static final int SHORT_BYTES = 16 << 10;

  /** So many say what a long one is, as a rule. */
  private static final int LEAST_BYTES = 1 << 10;

  private final GrpcCall<Q, ?> call;
  private final LoopStream stream;
  private final CallConnection shared;
  private final ArrivedBytes waiting = new ArrivedBytes(); // that nobody has used

  private int requested; // messages
  private boolean pumping;
  private boolean inputEnded;
  private boolean halfClosed; // as the listener heard
  private boolean closed; // nobody wants what comes

  // A long message.
  private LongMessage<Q> reading; // null: there is none
  private boolean tried; // to read the next one at once
  private int skipped; // bytes behind it that nobody wants

  // What is not complete.
  private final HeldBytes held;
  private long progressBytes; // since the time below
  private long progressNs; // 0: all is complete

  ArrivingMessages(GrpcCall<Q, ?> call, LoopStream stream, CallConnection shared) {
    this.call = call;
    this.stream = stream;
    this.shared = shared;
    held = new HeldBytes(shared.budget(), shared.heap());
  }

  // ---- What comes ------------------------------------------------------------------------------

  /** Takes the next bytes; gives how many of them are used already. */
  int received(ByteBuffer data) {
    int count = data.remaining();
    progressBytes += count;
    skip(data);
    if (closed) {
      data.position(data.limit());
      return count;
    }
    if (reading != null && reading.hasTarget()) {
      reading.take(data);
    } else if (waiting.count() == 0 && reading == null && call.isStarted()) {
      takeWhole(data);
      takeBegun(data);
    }
    int unused = closed ? 0 : data.remaining();
    if (unused > 0) {
      waiting.add(data);
      pump();
      if (reading != null && waiting.count() > SHORT_BYTES) {
        stream.connection().letReadersCatchUp();
      }
    }
    settle();
    return count - unused;
  }

  /** Nothing follows what came. */
  void inputEnded() {
    inputEnded = true;
    if (reading != null && reading.cut()) {
      refuse(Status.INTERNAL, CUT);
    }
    pump();
  }

  private void skip(ByteBuffer data) {
    int count = Math.min(skipped, data.remaining());
    data.position(data.position() + count);
    skipped -= count;
  }

  /** Delivers messages that are there as a whole, from where they lie. */
  private void takeWhole(ByteBuffer data) {
    pumping = true;
    try {
      while (requested > 0 && !closed && isWhole(data)) {
        deliverFirst(data);
      }
    } finally {
      pumping = false;
    }
  }

  /** Begins to read a long message from where its first bytes lie, if those are enough. */
  private void takeBegun(ByteBuffer data) {
    int at = data.position();
    int here = data.remaining() - PREFIX_BYTES;
    if (here < LEAST_BYTES || requested == 0 || closed || data.get(at) != 0) {
      return;
    }
    int length = data.getInt(at + 1);
    if (isLong(length)
        && shared.budget().fits(length)
        && readAtOnce(data.slice(at + PREFIX_BYTES, here), length)) {
      data.position(data.limit());
      reading.tellIfEnded();
    }
  }

  private boolean isLong(int length) {
    return length > SHORT_BYTES && length <= shared.limits().messageBytes();
  }

  /** Reads what there is of a long message, which is tried once; the rest comes to its place. */
  private boolean readAtOnce(ByteBuffer here, int length) {
    if (tried || here.remaining() < LEAST_BYTES) {
      return false;
    }
    tried = true;
    LongMessage<Q> message = newLong(length);
    if (!MessageReading.readsAsItComes(call.getMethodDescriptor()) || !message.readAtOnce(here)) {
      return false;
    }
    requested--;
    reading = message;
    return true;
  }

  private boolean isWhole(ByteBuffer data) {
    int at = data.position();
    int room = data.remaining() - PREFIX_BYTES;
    if (room < 0) {
      return false;
    }
    int length = data.getInt(at + 1);
    return length >= 0 && length <= room && checkPrefix(data.get(at), length);
  }

  /** Delivers the message that is first there, which counts as read then. */
  private void deliverFirst(ByteBuffer data) {
    int at = data.position();
    boolean compressed = data.get(at) != 0;
    int length = data.getInt(at + 1);
    data.position(at + PREFIX_BYTES + length);
    requested--;
    call.came(length);
    Q message;
    try {
      message = call.read(new WholeMessage(data.slice(at + PREFIX_BYTES, length)), compressed);
    } catch (IOException | RuntimeException | Error e) {
      call.failed(e);
      return;
    }
    call.deliver(message);
  }

  /** The listener takes more messages. */
  void request(int count) {
    requested = (int) Math.min(Integer.MAX_VALUE, (long) requested + count);
    pump();
    settle();
  }

  /** Delivers what can be, and begins to read what is long. */
  void pump() {
    if (pumping || !call.isStarted()) {
      return;
    }
    pumping = true;
    try {
      while (!closed && reading == null && requested > 0 && takeWaiting()) {}
    } finally {
      pumping = false;
    }
    if (inputEnded && !closed && !halfClosed && reading == null) {
      endInput();
    }
  }

  /** Whether there may be more to take. */
  private boolean takeWaiting() {
    ByteBuffer data = waiting.peek();
    if (data.remaining() < PREFIX_BYTES) {
      return false;
    }
    byte kind = data.get(0);
    int length = data.getInt(1);
    if (!checkPrefix(kind, length)) {
      return false;
    }
    if (length <= data.remaining() - PREFIX_BYTES) {
      int before = data.remaining();
      deliverFirst(data);
      used(before - data.remaining());
      return true;
    }
    if (!shared.budget().fits(length)) {
      refuse(Status.RESOURCE_EXHAUSTED, shared.budget().refusal(length));
    } else if (isLong(length)) {
      takeLong(data.slice(PREFIX_BYTES, data.remaining() - PREFIX_BYTES), length, kind != 0);
    }
    return false;
  }

  private void takeLong(ByteBuffer here, int length, boolean compressed) {
    if (!compressed && readAtOnce(here, length)) {
      used(waiting.count());
      reading.tellIfEnded();
    } else if (compressed || waiting.count() >= SHORT_BYTES) {
      used(PREFIX_BYTES);
      requested--;
      reading = newLong(length);
      reading.startThread(compressed);
    }
  }

  private LongMessage<Q> newLong(int length) {
    return new LongMessage<>(call::read, stream, waiting, length, this::endReading);
  }

  private void used(int count) {
    if (waiting.count() >= count) { // else the call was closed, and dropped them
      waiting.skip(count);
      stream.consumed(count);
    }
  }

  private void endInput() {
    if (waiting.count() == 0 && skipped == 0) {
      halfClosed = true;
      call.halfClose();
    } else if (skipped > 0 || !isWhole(waiting.peek())) {
      refuse(Status.INTERNAL, CUT);
    } // else the listener takes it some time
  }

  // ---- What is wrong ---------------------------------------------------------------------------

  private boolean checkPrefix(byte kind, int length) {
    if ((kind & ~1) != 0) {
      refuse(Status.INTERNAL, "expected 0 or 1 as a message's first byte, got " + (kind & 0xFF));
    } else if (kind != 0 && !call.head().isGzip()) {
      refuse(
          Status.INTERNAL,
          "expected no compressed message, as the call's head says nothing of a grpc-encoding");
    } else if (length < 0 || length > shared.limits().messageBytes()) {
      refuse(
          Status.RESOURCE_EXHAUSTED,
          "expected a message of at most "
              + shared.limits().messageBytes()
              + " bytes, got "
              + Integer.toUnsignedString(length)
              + "; --grpc-max-input-size sets the limit");
    }
    return !closed;
  }

  private void refuse(Status status, String why) {
    call.refuse(status.withDescription(why));
  }

  // ---- A long message --------------------------------------------------------------------------

  private void endReading(Q message, Throwable failure) {
    int left = reading.left();
    int waits = Math.min(left, waiting.count());
    int length = reading.length();
    reading = null;
    tried = false;
    skipped = left - waits; // where it was not read to its end
    used(waits);
    call.came(length);
    if (failure == null) {
      pumping = true;
      call.deliver(message); // also when the call is closed: it may own memory
      pumping = false;
    } else if (!closed) {
      call.failed(failure);
    }
    progressNs = 0;
    pump();
    settle();
  }

  // ---- What is not complete --------------------------------------------------------------------

  /** Has the budget say what is held now, and the time run as long as something is. */
  private void settle() {
    if (closed) {
      return;
    }
    int waits = waiting.count();
    boolean isComplete = waits == 0 && reading == null && skipped == 0;
    long bytes = waits + (reading == null ? 0 : reading.length() - reading.left());
    String refusal = held.hold(bytes, waits);
    if (refusal != null) {
      refuse(Status.RESOURCE_EXHAUSTED, refusal);
      return;
    }
    if (isComplete) {
      if (progressNs != 0) {
        progressNs = 0;
        shared.isComplete(this);
      }
    } else if (progressNs == 0) {
      progressNs = System.nanoTime() | 1;
      progressBytes = waits;
      shared.isUnfinished(this);
    }
  }

  /** When it is to be looked after. */
  long dueNs() {
    return progressNs + shared.limits().requestTime().toNanos();
  }

  /** Ends the call if too little came in its time. */
  void look(long nowNs) {
    if (progressNs == 0 || nowNs - dueNs() < 0) {
      return;
    }
    boolean waitsForServer = waiting.count() > 0 && (requested == 0 || reading != null);
    if (!waitsForServer && progressBytes < PROGRESS_BYTES) {
      refuse(
          Status.DEADLINE_EXCEEDED,
          "expected the rest of a message, or "
              + PROGRESS_BYTES
              + " bytes more of it, within "
              + shared.limits().requestTime().toMillis()
              + " ms, got less; --grpc-request-timeout-secs sets the time");
      return;
    }
    progressBytes = 0;
    progressNs = nowNs | 1;
  }

  /** Nobody wants any more of what comes. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    held.giveBack();
    int dropped = waiting.count();
    waiting.clear();
    stream.consumed(dropped);
    if (reading != null) {
      reading.giveUp();
    }
    shared.isComplete(this);
  }
}
