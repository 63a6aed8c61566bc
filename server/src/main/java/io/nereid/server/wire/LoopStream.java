package io.nereid.server.wire;

import io.nereid.server.shared.HeapBudget;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Supplier;

/**
 * One stream of a connection that is served by its events: tells what comes of it, and sends the
 * reply, as far and as soon as the client takes it. Everything but {@link #isReady} is called on
 * the connection's loop.
 */
public final class LoopStream implements Http2Stream.Listener, FullStreams.Waiting {

  private static final Logger LOGGER = System.getLogger(LoopStream.class.getName());

  /** Bytes of a reply that wait before it is better to wait with more. */
  private static final int MOST_WAITING_BYTES = 32 << 10;

  private final EventConnection connection;
  private final Http2Stream known;
  private final ArrayDeque<Piece> waiting = new ArrayDeque<>(2); // the first is being sent
  private int sentParts; // of the first
  private long waitingBytes; // of all
  private List<String> trailers; // null: there are none yet
  private final int heapBytes; // what it counts with, beside what waits
  private StreamEvents events; // null: nobody serves it
  private boolean ended;
  private volatile boolean ready = true;

  /** A piece of a reply that has no room in the client's windows, and who is told behind it. */
  private record Piece(ByteBuffer[] parts, long count, boolean isLent, Runnable release) {

    static Piece lent(ByteBuffer[] parts, Runnable release) {
      long count = 0;
      for (ByteBuffer part : parts) {
        count += part.remaining();
      }
      return new Piece(parts, count, true, release);
    }

    static Piece copied(ByteBuffer bytes, Runnable release) {
      int count = bytes.remaining();
      ByteBuffer copy = ByteBuffer.allocate(count).put(bytes).flip();
      return new Piece(new ByteBuffer[] {copy}, count, false, release);
    }
  }

  LoopStream(EventConnection connection, Http2Stream known, int heapBytes) {
    this.connection = connection;
    this.known = known;
    this.heapBytes = heapBytes;
  }

  /** Has what serves the connection's streams begin with this one. */
  void begin(ConnectionEvents server, List<String> fields, boolean last) {
    try {
      server.begun(this, fields, last);
    } catch (RuntimeException | Error e) {
      failed(e);
    }
    if (last && !ended) {
      inputEnded();
    }
  }

  /** Has its events told from now on. */
  public void servedBy(StreamEvents its) {
    events = its;
  }

  /** The connection that it is of. */
  public EventConnection connection() {
    return connection;
  }

  // ---- What comes, by the codec ----------------------------------------------------------------

  @Override
  public int received(ByteBuffer data, boolean last) {
    int count = data.remaining();
    if (events == null) {
      return count;
    }
    try {
      count = events.received(data);
      if (last) {
        events.inputEnded();
      }
    } catch (RuntimeException | Error e) {
      failed(e);
    }
    return count;
  }

  @Override
  public void inputEnded() {
    try {
      if (events != null) {
        events.inputEnded();
      }
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  /** Whatever goes wrong with a stream ends it alone. */
  private void failed(Throwable failure) {
    LOGGER.log(Level.ERROR, "stream failed", failure);
    connection.codec().reset(known, Http2Error.INTERNAL_ERROR);
  }

  /** What had waited was sent. */
  @Override
  public void sent() {
    sentParts++;
    sendWaiting();
    sendTrailers();
    tellRoom();
  }

  @Override
  public void closed() {
    ended = true;
    while (!waiting.isEmpty()) {
      endFirst();
    }
    connection.ended(this, heapBytes);
    try {
      if (events != null) {
        events.ended(known.outputEnded);
      }
    } catch (RuntimeException | Error e) { // the others are told all the same
      LOGGER.log(Level.ERROR, "stream failed", e);
    }
  }

  // ---- The request -----------------------------------------------------------------------------

  /** Bytes that came were used: the client may send as many more. */
  public void consumed(int count) {
    connection.codec().consumed(known, count);
  }

  // ---- The reply -------------------------------------------------------------------------------

  /** Sends a head, whose fields are names and values in turns. */
  public void head(int status, List<String> fields, boolean last) {
    if (!ended) {
      connection.codec().writeHead(known, status, fields, last);
      endInput();
    }
  }

  /**
   * Sends a part of a body, of which a copy is made. False: there is no heap for a copy that has to
   * wait for the client, and nothing was sent.
   */
  public boolean copy(byte[] bytes, int from, int count) {
    if (ended) {
      return true;
    }
    ByteBuffer all = ByteBuffer.wrap(bytes, from, count);
    if (waiting.isEmpty() && connection.codec().sending().hasRoom(known, count)) {
      connection.codec().writeData(known, all, false, false);
      noteFull();
      return true;
    }
    HeapBudget heap = connection.heap();
    if (!heap.take(count)) {
      return false;
    }
    Runnable release = () -> heap.giveBack(count);
    add(() -> Piece.copied(all, release), release);
    return true;
  }

  /**
   * Sends parts of a body from where they lie. {@code release} is run when they need not stay, also
   * if this fails.
   */
  public void lend(ByteBuffer[] parts, Runnable release) {
    if (ended) {
      release.run();
    } else {
      add(() -> Piece.lent(parts, release), release);
    }
  }

  private void add(Supplier<Piece> making, Runnable release) {
    boolean isAdded = false;
    try {
      Piece piece = making.get();
      waiting.add(piece);
      waitingBytes += piece.count;
      isAdded = true;
    } finally {
      if (!isAdded) {
        release.run();
      }
    }
    try {
      if (waiting.size() == 1) {
        sendWaiting();
      }
      noteFull();
    } catch (RuntimeException | Error e) { // in the middle of a piece nothing else can follow
      failed(e);
    }
  }

  private void sendWaiting() {
    while (!waiting.isEmpty()) {
      Piece first = waiting.peek();
      while (sentParts < first.parts.length) {
        if (!connection.codec().writeInTurn(known, first.parts[sentParts], first.isLent)) {
          return;
        }
        sentParts++;
      }
      endFirst();
    }
  }

  private void endFirst() {
    Piece first = waiting.poll();
    sentParts = 0;
    waitingBytes -= first.count;
    if (first.isLent) {
      connection.output().whenWritten(first.release);
    } else {
      first.release.run();
    }
  }

  /** Ends the reply behind all that was sent. */
  public void trailers(List<String> fields) {
    trailers = fields;
    sendTrailers();
  }

  private void sendTrailers() {
    if (trailers != null && waiting.isEmpty() && !ended && !known.outputEnded) {
      head(0, trailers, true);
    }
  }

  /** A client that still sends what nobody will read is told not to. */
  private void endInput() {
    if (known.outputEnded) {
      connection.codec().reset(known, Http2Error.NO_ERROR);
    }
  }

  /** Gives the stream up: nobody wants what it would bring. */
  public void cancel() {
    connection.codec().reset(known, Http2Error.CANCEL);
  }

  /** Whether little waits to be sent; from any thread. */
  public boolean isReady() {
    return ready;
  }

  private boolean hasRoom() {
    return waitingBytes < MOST_WAITING_BYTES && connection.hasRoom();
  }

  private void noteFull() {
    if (ready && !hasRoom()) {
      ready = false;
      connection.isFull(this);
    }
  }

  @Override
  public boolean tellRoom() {
    if (!ready && !ended && hasRoom()) {
      ready = true;
      try {
        if (trailers == null) {
          events.ready();
        }
      } catch (RuntimeException | Error e) {
        failed(e);
      }
    }
    return ready || ended;
  }
}
