package io.nereid.server.wire;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection of HTTP/2: one of its threads at a time reads frames ({@link ReadingTurns}), and
 * serves the streams that have begun as a connection of HTTP/1.1 would serve their requests. What
 * it is done with at once it writes together, before it reads again. Before it waits for anything
 * but the client it has another thread read; then it writes its reply itself, and one more thread
 * writes what nobody else does. Nobody waits for the client while holding the lock.
 */
final class Http2Connection implements Http2Codec.Listener {

  private static final Logger LOGGER = System.getLogger(Http2Connection.class.getName());

  /** Bytes that wait to be written before replies wait for them. */
  static final int MOST_UNWRITTEN_BYTES = 256 << 10;

  /** Streams that are served before their replies are written, and rooms that are kept for more. */
  private static final int MOST_TOGETHER = 16;

  /** Spare seats of a connection without streams; with streams it keeps all that it has. */
  private static final int MOST_IDLE_SEATS = 1;

  /** Reads until other connections have their turn, of a client that sends without a pause. */
  private static final int MOST_READS = 8;

  private final WireContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;

  /** Guards everything below, and the codec. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Http2Codec codec;
  private final Http2Output output;
  private final ReadingTurns<Http2Seat> turns;
  private final ArrayDeque<Http2Seat.Request> begun = new ArrayDeque<>(); // not served yet
  private final ArrayDeque<ArrivedBytes> rooms = new ArrayDeque<>(); // empty ones
  private ConnectionInput first; // what was read before; null: it was taken
  private int streamCount; // of those that somebody serves, or will
  private boolean behind; // a stream's thread has not come to read
  private int reads;
  private int together; // streams that were served since something was written
  private final ReadingPace pace; // of the seat that reads
  private boolean goneAway;
  private boolean ending; // nothing more is read

  Http2Connection(WireContext context, ClientChannel channel, ConnectionGuard guard)
      throws IOException {
    this.context = context;
    this.channel = channel;
    this.guard = guard;
    codec =
        new Http2Codec(
            context.limits().headBytes(),
            WireLimits.MAX_STREAMS,
            Http2Streams.USUAL_WINDOW_BYTES,
            this);
    turns = new ReadingTurns<>(context, lock, () -> new Http2Seat(context, this));
    output = new Http2Output(lock, codec, channel, guard, turns::isReaderAtWork);
    pace = new ReadingPace(context.watch().readers());
  }

  ReentrantLock lock() {
    return lock;
  }

  Http2Codec codec() {
    return codec;
  }

  ReadingTurns<Http2Seat> turns() {
    return turns;
  }

  ClientChannel channel() {
    return channel;
  }

  // ---- By the connection's thread --------------------------------------------------------------

  /** Serves all that the client asks for, beginning with what was read; returns at its end. */
  void serve(ConnectionInput read) throws IOException {
    first = read;
    Thread.ofVirtual()
        .name("nrd-http-writer")
        .start(() -> output.runWriter(() -> {}, this::isComplete));
    try {
      guard.eachTick(this::lookAfterReading);
      guard.stopAnnouncement(this::announceStop);
      if (context.stopping().getAsBoolean()) {
        announceStop();
      }
    } finally {
      turns.runFirst();
      lock.lock();
      turns.awaitAll();
      output.awaitWriter();
      lock.unlock();
    }
    output.linger();
  }

  // ---- By the seat that reads ------------------------------------------------------------------

  /** Serves what it was given, or what has begun, and reads more, until another seat reads. */
  void work(Http2Seat seat) {
    lock.lock();
    try {
      if (seat.hasWork()) {
        serve(seat, seat.takeGiven());
      }
      if (turns.isReading(seat)) {
        pace.restart();
      }
      while (turns.isReading(seat)) {
        goOn(seat);
        if (pace.wantsThread() && turns.isReading(seat)) {
          haveReader(seat);
        }
      }
      turns.rest(seat);
    } finally {
      lock.unlock();
    }
  }

  /** Has a thread of the platform do what the seat does, if there is one, while so much comes. */
  private void haveReader(Http2Seat seat) {
    lock.unlock();
    try {
      context.watch().readers().run(pace, () -> workWhileBusy(seat));
    } finally {
      lock.lock();
    }
  }

  private void workWhileBusy(Http2Seat seat) {
    lock.lock();
    try {
      while (pace.wantsThread() && turns.isReading(seat)) {
        goOn(seat);
      }
    } finally {
      lock.unlock();
    }
  }

  private void goOn(Http2Seat seat) {
    turns.atWork();
    boolean writes = output.isToBeWritten();
    if (!begun.isEmpty() && (together < MOST_TOGETHER || !writes)) {
      together++;
      take(seat, begun.poll());
    } else if (writes) {
      together = 0;
      output.write();
    } else {
      readMore();
    }
  }

  /** Serves what is short itself, and has another seat serve everything else. */
  private void take(Http2Seat seat, Http2Seat.Request request) {
    boolean given = false;
    try {
      if (!turns.haveSpare()) {
        reset(request.stream(), Http2Error.REFUSED_STREAM); // the client may try again
      } else if (request.stream().isShort()) {
        given = true;
        serve(seat, request);
      } else {
        turns.takeSpare().give(request);
        given = true;
      }
    } finally {
      if (!given) {
        ended(request);
      }
    }
  }

  private void serve(Http2Seat seat, Http2Seat.Request request) {
    request.stream().servedBy(seat);
    lock.unlock();
    try {
      seat.serve(request);
    } finally {
      lock.lock();
      ended(request);
    }
  }

  /** Whatever goes wrong with it ends the connection, and not what the thread is at. */
  private void readMore() {
    boolean goesOn = false;
    try {
      goesOn = receive();
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      if (!goesOn) {
        endReading();
      }
    }
  }

  /** Has the codec take more of what the client sends; false: that was all. */
  private boolean receive() throws IOException {
    if (first != null) {
      ConnectionInput read = first;
      first = null;
      return codec.received(read.bytes(), read.position(), read.available());
    }
    int count = 0;
    turns.atRest();
    lock.unlock();
    try {
      if (behind || (++reads % MOST_READS == 0 && !pace.wantsThread())) {
        behind = false;
        Thread.yield(); // what comes while it reads goes where it reads to, and not by a copy
      }
      count = channel.read(codec.readBuffer());
    } finally {
      lock.lock();
      turns.atWork();
    }
    pace.read(count);
    return codec.received(count);
  }

  private void endReading() {
    ending = true;
    guard.writing();
    try {
      codec.goAway(Http2Error.NO_ERROR, "");
      codec.close();
      while (!begun.isEmpty()) {
        ended(begun.poll());
      }
    } finally {
      output.wakeWriter();
      turns.endReading();
    }
  }

  // ---- By the codec, with the lock -------------------------------------------------------------

  /** Begins a stream, if there is room for one more among those of all connections. */
  @Override
  public boolean begun(Http2Stream known, List<String> fields, boolean last) {
    ArrivedBytes room = rooms.isEmpty() ? new ArrivedBytes() : rooms.removeLast();
    StreamChannel stream = new StreamChannel(this, known, room);
    ConnectionGuard streamGuard = new ConnectionGuard(stream, context.limits());
    if (!context.watch().addStream(streamGuard, context.limits().connectionCount())) {
      return false;
    }
    boolean added = false;
    try {
      if (last) {
        stream.inputEnded();
      }
      begun.add(new Http2Seat.Request(stream, streamGuard, room, fields, last));
      known.listener = stream;
      streamCount++;
      added = true;
    } finally {
      if (!added) { // there is no memory for it
        context.watch().removeStream(streamGuard);
      }
    }
    guard.serving();
    return true;
  }

  /** More waits than the threads of streams are to be behind. */
  void letReadersCatchUp() {
    behind = true;
  }

  // ---- By a stream's thread --------------------------------------------------------------------

  /** A stream has ended; with the lock. */
  private void ended(Http2Seat.Request request) {
    context.watch().removeStream(request.guard());
    streamCount--;
    if (rooms.size() < MOST_TOGETHER) {
      request.room().clear();
      rooms.add(request.room());
    }
    if (streamCount == 0) {
      turns.keepIdle(MOST_IDLE_SEATS);
      if (goneAway || ending) {
        guard.writing();
      } else {
        guard.idle();
      }
    }
    if (goneAway || ending) {
      output.wakeWriter();
    }
  }

  /** A seat's thread ends. */
  void left(Http2Seat seat) {
    lock.lock();
    try {
      if (turns.isReading(seat)) { // something went wrong with it
        endReading();
      }
    } finally {
      turns.left(seat);
      lock.unlock();
    }
  }

  /** Nobody is kept waiting for long by a request that was to be short; by the watch. */
  private void lookAfterReading() {
    if (turns.seemsStuck() && lock.tryLock()) {
      try {
        turns.handOnStuck();
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Lets the threads of other streams reply, if there are any: what all of them have is written
   * together, which takes a tenth less of a processor with eight at a time. The seat that reads has
   * its replies together anyway. With the lock, which others get meanwhile.
   */
  void letOthersReply(Http2Seat seat) {
    if (streamCount > 1 && !turns.isReading(seat)) {
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

  /** The client may send more; with the lock. */
  void consumed(StreamChannel stream, int count) {
    codec.consumed(stream.known(), count);
    output.handOver();
  }

  /** Ends a stream early; with the lock. */
  void reset(StreamChannel stream, Http2Error why) {
    codec.reset(stream.known(), why);
    output.handOver();
  }

  // ---- The end ---------------------------------------------------------------------------------

  /** Whether nothing follows what was sent; with the lock. */
  private boolean isComplete() {
    return streamCount == 0 && (goneAway || ending);
  }

  /** From whatever thread: no streams are to begin any more. */
  private void announceStop() {
    lock.lock();
    try {
      if (goneAway || ending) {
        return;
      }
      goneAway = true;
      if (streamCount == 0) {
        guard.writing();
      }
      codec.goAway(Http2Error.NO_ERROR, "");
      output.handOver();
      output.wakeWriter(); // which ends the connection when nothing follows
    } finally {
      lock.unlock();
    }
  }
}
