package io.nereid.server.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Bytes as the socket has them, and the first of them, for which a connection waits without a
 * buffer. While a round has the connection ({@link ReadingRound}) nothing here waits: whoever would
 * have to wait for the client takes the connection out of its round first.
 */
final class PlainChannel implements ClientChannel {

  private final SocketChannel socket;
  private ByteBuffer first; // null: nothing was waited for, or it was taken

  /** The round that has the connection; null: a thread of its own reads and writes. */
  private final AtomicReference<ReadingRound> round = new AtomicReference<>();

  private ReadingRound.Member connection; // that the round has; written before the round is
  private SelectionKey key; // of whoever goes round; null: it never waited in a round

  /** Reads and writes a socket that is connected. */
  PlainChannel(SocketChannel socket) {
    this.socket = socket;
  }

  // ---- In a round ------------------------------------------------------------------------------

  /** From now on a round has the connection, which its thread is about to take. */
  void enter(ReadingRound itsRound, ReadingRound.Member itsConnection) {
    connection = itsConnection;
    round.set(itsRound);
  }

  boolean isIn(ReadingRound one) {
    return round.get() == one;
  }

  /** Has the round's selector say when there is something to read. */
  void awaitIn(Selector selector) throws IOException {
    socket.configureBlocking(false);
    key = socket.register(selector, SelectionKey.OP_READ, connection);
  }

  /**
   * Leaves a round; false: that is not where it is. Whoever reads or writes meanwhile waits before
   * it takes the connection for one that is in no round.
   */
  boolean leave(ReadingRound one) {
    if (!isIn(one)) {
      return false;
    }
    if (key != null) {
      key.cancel();
    }
    try {
      socket.configureBlocking(true);
    } catch (IOException e) {
      // It was closed, as whoever reads or writes it will see.
    }
    return round.compareAndSet(one, null);
  }

  @Override
  public boolean keepsOthersWaiting() {
    return round.get() != null;
  }

  @Override
  public void stepAside() {
    ReadingRound itsRound = round.get();
    if (itsRound != null) {
      itsRound.release(this);
    }
  }

  // ---- Bytes -----------------------------------------------------------------------------------

  @Override
  public SocketChannel socket() {
    return socket;
  }

  @Override
  public boolean isEncrypted() {
    return false;
  }

  @Override
  public boolean awaitFirst() throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    if (socket.read(one) < 0) {
      return false;
    }
    first = one.flip();
    return true;
  }

  @Override
  public void open() {
    // There is nothing to agree on.
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    if (first != null) {
      to.put(first);
      first = null;
      return 1;
    }
    boolean isInRound = keepsOthersWaiting(); // before the socket says that there is nothing
    int count = socket.read(to);
    if (count == 0 && isInRound && to.hasRemaining()) {
      stepAside();
      return socket.read(to);
    }
    return count;
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    boolean isInRound = keepsOthersWaiting();
    int count = socket.write(from);
    if (count == 0 && isInRound && from.hasRemaining()) {
      stepAside();
      return socket.write(from);
    }
    return count;
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    boolean isInRound = keepsOthersWaiting();
    long written = socket.write(from, offset, count);
    if (written == 0 && isInRound) {
      stepAside();
      return socket.write(from, offset, count);
    }
    return written;
  }

  @Override
  public void configureBlocking(boolean blocking) throws IOException {
    socket.configureBlocking(blocking);
  }

  @Override
  public void shutdownInput() throws IOException {
    socket.shutdownInput();
  }

  @Override
  public void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return socket.isOpen();
  }

  @Override
  public void close() throws IOException {
    socket.close();
    ReadingRound itsRound = round.get();
    if (itsRound != null) {
      itsRound.tell(connection); // its thread hears nothing of this socket any more
    }
  }
}
