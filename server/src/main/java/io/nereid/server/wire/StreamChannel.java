package io.nereid.server.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.locks.Condition;

/**
 * One stream of an HTTP/2 connection, as the channel of its request: the body's bytes are read from
 * it, the reply is written to it. All that it holds is guarded by the connection's lock. It is made
 * anew for each stream, because the watch may still look at one that has just ended.
 */
final class StreamChannel implements ClientChannel, Http2Stream.Listener {

  private static final int PIECE_BYTES = 64 << 10;

  /** How much is lent at a time, so that other streams get their turns. */
  private static final int LENT_BYTES = 1 << 20;

  /** Whoever reads the connection lets the stream's thread go first when more than this waits. */
  private static final int PATIENT_BYTES = 16 << 10;

  private final Http2Connection connection;
  private final ReadingTurns<Http2Seat> turns;
  private final Http2Stream known;
  private final Condition changed;
  private final ArrivedBytes arrived;

  private Http2Seat seat; // of the thread that serves it; null: none does yet
  private ByteBuffer target; // of whoever waits: what comes goes there; null: nobody does
  private boolean targetFills; // whoever waits does so until it is full
  private boolean inputEnded;
  private boolean inputShut; // the client took too long
  private boolean outputEnded;
  private boolean closed;
  private boolean waitsForClient; // to take what was sent before
  private boolean blocking = true;

  /** {@code arrived} is empty, and for this stream alone while there is one. */
  StreamChannel(Http2Connection connection, Http2Stream known, ArrivedBytes arrived) {
    this.connection = connection;
    turns = connection.turns();
    this.arrived = arrived;
    this.known = known;
    changed = connection.lock().newCondition();
  }

  /** What the codec knows of it. */
  Http2Stream known() {
    return known;
  }

  // ---- By the seat that reads, with the lock ---------------------------------------------------

  /** Takes a part of the body, for whoever waits for it or will. */
  @Override
  public int received(ByteBuffer data, boolean last) {
    int all = data.remaining();
    inputEnded |= last;
    if (target != null) {
      int count = Math.min(target.remaining(), data.remaining());
      target.put(target.position(), data, data.position(), count);
      target.position(target.position() + count);
      data.position(data.position() + count);
      if (last || !targetFills || !target.hasRemaining()) {
        changed.signalAll();
      }
    }
    int waiting = data.remaining();
    arrived.add(data);
    if (arrived.count() > PATIENT_BYTES) {
      connection.letReadersCatchUp();
    }
    return all - waiting;
  }

  /** Whether all of the request is there, and little. */
  boolean isShort() {
    return inputEnded && arrived.count() <= RequestBody.SHORT_BYTES;
  }

  @Override
  public void inputEnded() {
    inputEnded = true;
    changed.signalAll();
  }

  /** It is served from now on. */
  void servedBy(Http2Seat its) {
    seat = its;
  }

  @Override
  public void sent() {
    changed.signalAll();
  }

  @Override
  public void closed() {
    closed = true;
    changed.signalAll();
  }

  // ---- By the stream's thread ------------------------------------------------------------------

  @Override
  public int read(ByteBuffer to) throws IOException {
    connection.lock().lock();
    try {
      if (!blocking) {
        return probe();
      }
      int from = to.position();
      arrived.moveTo(to);
      connection.consumed(this, to.position() - from);
      targetFills = to.isDirect(); // a tensor's memory, of which a part is of no use
      while (to.position() == from || (targetFills && to.hasRemaining())) {
        if (inputShut || (closed && !inputEnded)) {
          throw new ClientGoneException();
        }
        if (inputEnded) {
          break;
        }
        target = to;
        awaitChange();
        target = null;
      }
      return to.position() == from ? -1 : to.position() - from;
    } finally {
      connection.lock().unlock();
    }
  }

  /** Another thread has to bring it about. */
  private void awaitChange() {
    turns.handOn(seat);
    changed.awaitUninterruptibly();
  }

  /** Looks whether the client is there, which the end of its request does not tell. */
  private int probe() throws ClientGoneException {
    if (closed) {
      throw new ClientGoneException();
    }
    return 0;
  }

  /** Tells a client that waits for it to send its body. */
  void writeContinue() throws IOException {
    connection.lock().lock();
    try {
      checkOpen();
      connection.codec().writeHead(known, 100, List.of(), false);
      writeCollected();
    } finally {
      connection.lock().unlock();
    }
  }

  /** Sends a reply's head, at once if nothing follows it, or else with that. */
  void writeHead(int status, List<String> fields, boolean last) throws IOException {
    connection.lock().lock();
    try {
      awaitUnwritten(Http2Connection.MOST_UNWRITTEN_BYTES);
      checkOpen();
      outputEnded = last;
      connection.codec().writeHead(known, status, fields, last);
      if (last) {
        writeCollected();
      }
    } finally {
      connection.lock().unlock();
    }
  }

  /** Sends a whole reply whose body is short, with those that other streams have by then. */
  void writeShort(int status, List<String> fields, ByteBuffer body) throws IOException {
    connection.lock().lock();
    try {
      awaitUnwritten(Http2Connection.MOST_UNWRITTEN_BYTES);
      checkOpen();
      connection.codec().writeHead(known, status, fields, false);
      boolean sent = connection.codec().writeData(known, body, false, true);
      if (!sent || !turns.isReading(seat)) {
        connection.letOthersReply(seat);
        awaitSent();
        writeCollected();
      }
      outputEnded = true;
    } finally {
      connection.lock().unlock();
    }
  }

  /**
   * Sends a part of a reply, to be written by {@link #writeOut}; returns when the memory may be
   * used for something else.
   */
  void write(ByteBuffer from, boolean last) throws IOException {
    do {
      writePiece(nextOf(from, PIECE_BYTES), false, last && !from.hasRemaining());
    } while (from.hasRemaining());
  }

  private static ByteBuffer nextOf(ByteBuffer from, int most) {
    int count = Math.min(from.remaining(), most);
    ByteBuffer piece = from.slice(from.position(), count);
    from.position(from.position() + count);
    return piece;
  }

  /**
   * Sends a part of a reply from where it lies. It must stay there until {@link #awaitWritten} of 0
   * has returned, also when this fails: the writer may be at it.
   */
  void lend(ByteBuffer from, boolean last) throws IOException {
    do {
      writePiece(nextOf(from, LENT_BYTES), true, last && !from.hasRemaining());
    } while (from.hasRemaining());
  }

  private void writePiece(ByteBuffer piece, boolean isLent, boolean last) throws IOException {
    connection.lock().lock();
    try {
      turns.handOn(seat);
      awaitUnwritten(Http2Connection.MOST_UNWRITTEN_BYTES);
      checkOpen();
      connection.codec().writeData(known, piece, isLent, last);
      awaitSent();
      outputEnded = last;
    } finally {
      connection.lock().unlock();
    }
  }

  /** Writes what was sent, or leaves that to whoever is writing. */
  void writeOut() {
    connection.lock().lock();
    try {
      writeCollected();
    } finally {
      connection.lock().unlock();
    }
  }

  /** Waits until all that was sent is written. */
  void awaitWritten() {
    connection.lock().lock();
    try {
      awaitUnwritten(0);
    } finally {
      connection.lock().unlock();
    }
  }

  // With the lock, taken once: whoever writes lets go of it meanwhile.

  /** Waits until the client's windows have had room for what was to be sent. */
  private void awaitSent() throws IOException {
    boolean waits = known.unsent != null;
    if (waits) {
      writeCollected();
    }
    while (known.unsent != null) {
      awaitChange();
    }
    if (waits && closed && !known.outputEnded) {
      throw new ClientGoneException();
    }
  }

  /** The thread that reads writes before it does. */
  private void writeCollected() {
    if (turns.isReading(seat)) {
      return;
    }
    waitsForClient = true;
    try {
      connection.output().write();
    } finally {
      waitsForClient = false;
    }
  }

  private void awaitUnwritten(int mostBytes) {
    if (connection.output().hasAtMost(mostBytes)) {
      return;
    }
    turns.handOn(seat);
    waitsForClient = true;
    try {
      connection.output().awaitWritten(mostBytes);
    } finally {
      waitsForClient = false;
    }
  }

  private void checkOpen() throws ClientGoneException {
    if (closed) {
      throw new ClientGoneException();
    }
  }

  /** What else came is served meanwhile. */
  @Override
  public void stepAside() {
    turns.stepAside(seat);
  }

  @Override
  public boolean keepsOthersWaiting() {
    return turns.isReading(seat);
  }

  // ---- As a channel ----------------------------------------------------------------------------

  @Override
  public SocketChannel socket() {
    return connection.channel().socket();
  }

  @Override
  public boolean isEncrypted() {
    return connection.channel().isEncrypted();
  }

  @Override
  public void open() {
    // The connection is.
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    int count = from.remaining();
    write(from, false);
    return count;
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    return write(from[offset]);
  }

  @Override
  public void configureBlocking(boolean waits) {
    connection.lock().lock();
    blocking = waits;
    connection.lock().unlock();
  }

  @Override
  public void shutdownInput() {
    connection.lock().lock();
    inputShut = true;
    changed.signalAll();
    connection.lock().unlock();
  }

  /** A reply says itself where it ends. */
  @Override
  public void shutdownOutput() {}

  @Override
  public boolean isOpen() {
    connection.lock().lock();
    boolean open = !closed;
    connection.lock().unlock();
    return open;
  }

  /**
   * Ends the stream, from any thread; what of the reply was written arrives. A client that does not
   * even read what the connection has for it loses that.
   */
  @Override
  public void close() {
    connection.lock().lock();
    try {
      if (waitsForClient) {
        connection.abandon();
      }
      if (!closed) {
        connection.reset(this, outputEnded ? Http2Error.NO_ERROR : Http2Error.INTERNAL_ERROR);
        closed();
      }
    } finally {
      connection.lock().unlock();
    }
  }
}
