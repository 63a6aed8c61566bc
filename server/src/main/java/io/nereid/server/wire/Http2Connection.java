package io.nereid.server.wire;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection of HTTP/2: its thread reads frames, and each stream has a seat, whose thread serves
 * its request as a connection of HTTP/1.1 would. A seat serves one stream after the other, so that
 * what a request needs is made once. Seats write their replies, and one more thread writes what
 * they do not. Nobody waits for the client while holding the lock.
 */
final class Http2Connection implements Http2Codec.Listener {

  private static final Logger LOGGER = System.getLogger(Http2Connection.class.getName());

  /** Bytes that wait to be written before replies wait for them. */
  static final int MOST_UNWRITTEN_BYTES = 256 << 10;

  /** Seats that a connection without streams keeps; with streams it keeps all that it has. */
  private static final int MOST_IDLE_SEATS = 2;

  private final WireContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;

  /** Guards everything below, and the codec. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition seatLeft = lock.newCondition();
  private final Http2Codec codec;
  private final Http2Output output;
  private final Map<Integer, StreamChannel> streams = new HashMap<>();
  private final ArrayDeque<Http2Seat> idleSeats = new ArrayDeque<>(); // the last is used next
  private final List<Http2Seat> called = new ArrayList<>(); // for streams that begin with this read
  private int seatCount;
  private boolean behind; // a stream's thread has not come to read; of the connection's thread
  private boolean goneAway;
  private boolean ending; // nothing more is read
  private boolean writerEnded;

  Http2Connection(WireContext context, ClientChannel channel, ConnectionGuard guard)
      throws IOException {
    this.context = context;
    this.channel = channel;
    this.guard = guard;
    codec = new Http2Codec(context.limits(), this);
    output = new Http2Output(lock, codec, channel, guard);
  }

  ReentrantLock lock() {
    return lock;
  }

  Http2Codec codec() {
    return codec;
  }

  ClientChannel channel() {
    return channel;
  }

  // ---- By the connection's thread --------------------------------------------------------------

  /** Serves all that the client asks for, beginning with what was read. */
  void serve(ConnectionInput begun) throws IOException {
    Thread.ofVirtual().name("nrd-http-writer").start(this::runWriter);
    try {
      guard.stopAnnouncement(this::announceStop);
      if (context.stopping().getAsBoolean()) {
        announceStop();
      }
      boolean goesOn = take(begun);
      while (goesOn) {
        if (behind) {
          behind = false;
          Thread.yield(); // what comes while it reads goes where it reads to, and not by a copy
        }
        int count = channel.read(codec.readBuffer());
        goesOn = take(count);
      }
    } finally {
      end();
    }
  }

  /** Takes what was read before. */
  private boolean take(ConnectionInput begun) {
    lock.lock();
    try {
      boolean goesOn = codec.received(begun.bytes(), begun.position(), begun.available());
      begun.skip(begun.available());
      return goesOn;
    } finally {
      output.handOver(); // also what the codec sent before it failed
      lock.unlock();
      callSeats();
    }
  }

  /** Takes what was read into the codec's buffer. */
  private boolean take(int count) {
    lock.lock();
    try {
      return codec.received(count);
    } finally {
      output.handOver();
      lock.unlock();
      callSeats();
    }
  }

  /** Lets seats go to their streams, now that the lock is free and all that came is there. */
  private void callSeats() {
    for (int i = 0; i < called.size(); i++) {
      called.get(i).call();
    }
    called.clear();
  }

  /** Ends what is under way, and waits until nobody uses the connection any more. */
  private void end() {
    lock.lock();
    try {
      ending = true;
      guard.writing();
      try {
        codec.endReading();
        streams.values().forEach(StreamChannel::closed);
        if (!goneAway) {
          codec.goAway();
        }
        codec.close();
        output.collect();
      } finally {
        output.wakeWriter();
        keepSeats();
        while (seatCount > 0 || !writerEnded) {
          seatLeft.awaitUninterruptibly();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- By the codec, on the connection's thread with the lock ----------------------------------

  @Override
  public void headers(
      int id, Iterable<Map.Entry<CharSequence, CharSequence>> fields, boolean last) {
    StreamChannel known = streams.get(id);
    if (known != null) {
      if (last) {
        known.inputEnded(); // fields behind the body mean nothing here
      }
      return;
    }
    Http2Seat seat = codec.hasTooMany() ? null : freeSeat();
    if (seat == null) {
      codec.reset(id, Http2Codec.Reset.REFUSED_STREAM); // the client may try again
      return;
    }
    boolean begun = false;
    try {
      begun = begin(id, seat, fields, last);
    } finally {
      if (!begun) { // refused, or there is no memory for it
        idleSeats.add(seat);
        keepSeats();
      }
    }
  }

  private Http2Seat freeSeat() {
    return idleSeats.isEmpty() ? newSeat() : idleSeats.removeLast();
  }

  /** Begins a stream, if there is room for one more among those of all connections. */
  private boolean begin(
      int id,
      Http2Seat seat,
      Iterable<Map.Entry<CharSequence, CharSequence>> fields,
      boolean last) {
    called.add(seat);
    StreamChannel stream = new StreamChannel(this, id, seat.kept());
    ConnectionGuard streamGuard = new ConnectionGuard(stream, context.limits());
    if (!context.watch().addStream(streamGuard, context.limits().connectionCount())) {
      codec.reset(id, Http2Codec.Reset.REFUSED_STREAM); // the client may try again
      return false;
    }
    if (last) {
      stream.inputEnded();
    }
    boolean begun = false;
    try {
      streams.put(id, stream);
      begun = true;
    } finally {
      if (!begun) {
        context.watch().removeStream(streamGuard);
      }
    }
    guard.serving();
    seat.begin(stream, streamGuard, fields, last);
    return true;
  }

  /** One more, whose thread waits for its first stream; null: there is no memory for it. */
  private Http2Seat newSeat() {
    if (!context.heap().takeForConnection(WireContext.STREAM_BYTES)) {
      return null;
    }
    boolean started = false;
    try {
      Http2Seat seat = new Http2Seat(context, this);
      seat.start();
      started = true;
      seatCount++;
      return seat;
    } finally {
      if (!started) {
        context.heap().giveBackOfConnection(WireContext.STREAM_BYTES);
      }
    }
  }

  /** Lets go of seats that are not needed. */
  private void keepSeats() {
    int most = ending ? 0 : streams.isEmpty() ? MOST_IDLE_SEATS : Integer.MAX_VALUE;
    while (idleSeats.size() > most) {
      idleSeats.removeFirst().dismiss();
    }
  }

  @Override
  public int data(int id, ByteBuffer data, boolean last) {
    StreamChannel stream = streams.get(id);
    if (stream == null) {
      return data.remaining();
    }
    int count = data.remaining();
    int waiting = stream.received(data, last);
    behind |= stream.isBehind();
    return count - waiting;
  }

  @Override
  public void closed(int id) {
    StreamChannel stream = streams.get(id);
    if (stream != null) {
      stream.closed();
    }
  }

  // ---- By a stream's thread --------------------------------------------------------------------

  /** A stream has ended; whether its seat is to take another one. */
  void ended(Http2Seat seat, StreamChannel stream, ConnectionGuard streamGuard, boolean reusable) {
    context.watch().removeStream(streamGuard);
    lock.lock();
    try {
      streams.remove(stream.id());
      if (streams.isEmpty() && !ending) {
        if (goneAway) {
          guard.writing();
        } else {
          guard.idle();
        }
      }
      if (reusable) {
        seat.free(stream);
        idleSeats.add(seat);
      } else {
        seat.dismiss();
      }
      keepSeats();
      if (goneAway || ending) {
        output.wakeWriter();
      }
    } finally {
      lock.unlock();
    }
  }

  /** A seat's thread ends. */
  void left() {
    context.heap().giveBackOfConnection(WireContext.STREAM_BYTES);
    lock.lock();
    try {
      seatCount--;
      seatLeft.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets the threads of other streams reply, if there are any: what all of them have is written
   * together, which takes a tenth less of a processor with eight at a time. With the lock, which
   * they get meanwhile.
   */
  void letOthersReply() {
    if (streams.size() > 1) {
      lock.unlock();
      Thread.yield();
      lock.lock();
    }
  }

  /** Gives up a client that does not read. */
  void abandon() {
    guard.close();
  }

  /** What is written; to be used with the lock. */
  Http2Output output() {
    return output;
  }

  /** Sends what the codec was given, which is to be written then; with the lock. */
  void flush() {
    codec.flush();
    output.collect();
  }

  /** The client may send more; with the lock. */
  void consumed(StreamChannel stream, int count) {
    codec.consumed(stream.id(), count);
    output.handOver();
  }

  /** Ends a stream early; with the lock. */
  void reset(StreamChannel stream, Http2Codec.Reset why) {
    codec.reset(stream.id(), why);
    output.handOver();
  }

  // ---- Writing ---------------------------------------------------------------------------------

  /** From whatever thread: no streams are to begin any more. */
  private void announceStop() {
    lock.lock();
    try {
      if (goneAway || ending) {
        return;
      }
      goneAway = true;
      if (streams.isEmpty()) {
        guard.writing();
      }
      codec.goAway();
      output.handOver();
    } finally {
      lock.unlock();
    }
  }

  /** The writer's life. */
  private void runWriter() {
    try {
      if (writeToTheEnd()) {
        guard.lingering();
        channel.shutdownOutput();
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
      guard.close();
    } catch (RuntimeException | Error e) {
      guard.close();
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      lock.lock();
      writerEnded = true;
      output.end();
      seatLeft.signalAll();
      lock.unlock();
    }
  }

  private boolean writeToTheEnd() {
    lock.lock();
    try {
      return output.writeToTheEnd(() -> streams.isEmpty() && (goneAway || ending));
    } finally {
      lock.unlock();
    }
  }
}
