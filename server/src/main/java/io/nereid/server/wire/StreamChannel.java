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
final class StreamChannel implements ClientChannel {

  private static final int PIECE_BYTES = 64 << 10;

  /** How much is lent at a time, so that other streams get their turns. */
  private static final int LENT_BYTES = 1 << 20;

  /** Whoever reads the connection lets the stream's thread go first when more than this waits. */
  private static final int PATIENT_BYTES = 16 << 10;

  private final Http2Connection connection;
  private final ReadingTurns<Http2Seat> turns;
  private final int id;
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
  StreamChannel(Http2Connection connection, int id, ArrivedBytes arrived) {
    this.connection = connection;
    turns = connection.turns();
    this.arrived = arrived;
    this.id = id;
    changed = connection.lock().newCondition();
  }

  int id() {
    return id;
  }

  // ---- By the seat that reads, with the lock ---------------------------------------------------

  /** Takes a part of the body, for whoever waits for it or will; how much of it waits now. */
  int received(ByteBuffer data, boolean last) {
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
    int rest = data.remaining();
    arrived.add(data);
    return rest;
  }

  /** Whether all of the request is there, and little. */
  boolean isShort() {
    return inputEnded && arrived.count() <= RequestBody.SHORT_BYTES;
  }

  /** Whether its thread is to be let go before more is read. */
  boolean isBehind() {
    return arrived.count() > PATIENT_BYTES;
  }

  /** The request is complete. */
  void inputEnded() {
    inputEnded = true;
    changed.signalAll();
  }

  /** It is served from now on. */
  void servedBy(Http2Seat its) {
    seat = its;
  }

  /** Nothing comes or goes any more. */
  void closed() {
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
      connection.codec().writeHead(id, 100, List.of(), false);
      connection.flush();
      writeCollected();
    } finally {
      connection.lock().unlock();
    }
  }

  /** Sends a reply's head, at once if nothing follows it, or else with that. */
  void writeHead(int status, List<CharSequence> fields, boolean last) throws IOException {
    connection.lock().lock();
    try {
      checkOpen();
      outputEnded = last;
      connection.codec().writeHead(id, status, fields, last);
      if (last) {
        connection.flush();
        writeCollected();
      }
    } finally {
      connection.lock().unlock();
    }
  }

  /** Sends a whole reply whose body is short, with those that other streams have by then. */
  void writeShort(int status, List<CharSequence> fields, ByteBuffer body) throws IOException {
    ByteBuffer copy = copy(body, body.remaining());
    connection.lock().lock();
    try {
      awaitUnwritten(Http2Connection.MOST_UNWRITTEN_BYTES);
      checkOpen();
      connection.codec().writeHead(id, status, fields, false);
      boolean allowed = connection.codec().allows(id, copy.remaining());
      Http2Codec.Sent sent = connection.codec().writeData(id, copy, true);
      if (allowed && inputEnded && turns.isReading(seat)) {
        closed = true; // by the flush of all replies that are written together
      } else {
        connection.letOthersReply(seat);
        awaitSent(sent);
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
      ByteBuffer piece = copy(from, Math.min(from.remaining(), PIECE_BYTES));
      writePiece(piece, last && !from.hasRemaining());
    } while (from.hasRemaining());
  }

  private static ByteBuffer copy(ByteBuffer from, int count) {
    byte[] piece = new byte[count];
    from.get(piece);
    return ByteBuffer.wrap(piece);
  }

  /**
   * Sends a part of a reply from where it lies. It must stay there until {@link #awaitWritten} of 0
   * has returned, also when this fails: the writer may be at it.
   */
  void lend(ByteBuffer from, boolean last) throws IOException {
    do {
      int count = Math.min(from.remaining(), LENT_BYTES);
      ByteBuffer piece = from.slice(from.position(), count);
      from.position(from.position() + count);
      writePiece(piece, last && !from.hasRemaining());
    } while (from.hasRemaining());
  }

  private void writePiece(ByteBuffer piece, boolean last) throws IOException {
    connection.lock().lock();
    try {
      turns.handOn(seat);
      awaitUnwritten(Http2Connection.MOST_UNWRITTEN_BYTES);
      checkOpen();
      send(piece, last);
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

  /** Has the codec take a part of a reply, which it does as soon as the client's windows allow. */
  private void send(ByteBuffer piece, boolean last) throws IOException {
    awaitSent(connection.codec().writeData(id, piece, last));
    outputEnded = last;
  }

  private void awaitSent(Http2Codec.Sent sent) throws IOException {
    if (!sent.isDone()) {
      connection.flush();
    }
    if (!sent.isDone()) {
      sent.whenDone(changed::signalAll);
      writeCollected();
    }
    while (!sent.isDone()) {
      awaitChange();
    }
    if (!sent.isSuccess()) {
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
        connection.reset(
            this, outputEnded ? Http2Codec.Reset.NO_ERROR : Http2Codec.Reset.INTERNAL_ERROR);
        closed();
      }
    } finally {
      connection.lock().unlock();
    }
  }
}
