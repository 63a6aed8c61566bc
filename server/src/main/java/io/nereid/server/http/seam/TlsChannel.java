package io.nereid.server.http.seam;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/**
 * An encrypted channel. Records are decrypted straight into the reader's memory if that has room
 * for a whole one, and encrypted straight from the writer's; only two buffers of a record's size
 * are held, on the heap, where ciphers are fastest.
 */
final class TlsChannel implements ClientChannel {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** The most messages without data between two writes. */
  private static final int MAX_SILENT_MESSAGES = 64;

  private final SocketChannel socket;
  private final Supplier<SSLEngine> engines;
  private final ReentrantLock reading = new ReentrantLock(); // taken before writing
  private final ReentrantLock writing = new ReentrantLock();
  private SSLEngine engine; // null until the channel is opened
  private ByteBuffer sent = NOTHING; // encrypted, empty outside of writing

  @GuardedBy("reading")
  private ByteBuffer received = NOTHING; // encrypted, from position to limit

  @GuardedBy("reading")
  private ByteBuffer plain = NOTHING; // decrypted, without room at the reader

  @GuardedBy("reading")
  private boolean ended; // the client has ended its output

  private volatile int silentMessages; // messages without data since the last write
  private volatile boolean established;
  private volatile boolean outputEnded;
  private volatile boolean closing;

  /** {@code engines} makes the engine at the first byte. */
  TlsChannel(SocketChannel socket, Supplier<SSLEngine> engines) {
    this.socket = socket;
    this.engines = engines;
  }

  @Override
  public SocketChannel socket() {
    return socket;
  }

  @Override
  public boolean isEncrypted() {
    return true;
  }

  // ---- Handshake -------------------------------------------------------------------------------

  /** Waits for the client's first byte before it allocates anything. */
  @Override
  public void open() throws IOException {
    ByteBuffer first = ByteBuffer.allocate(1);
    if (socket.read(first) < 0) {
      throw new ClientGoneException();
    }
    reading.lock();
    try {
      allocate(first.flip());
      engine.beginHandshake();
      handshake();
      established = true;
    } catch (SSLException e) {
      sayLast();
      throw e;
    } catch (IOException | ClientGoneException e) {
      throw new SSLException("the handshake was not finished", e);
    } finally {
      reading.unlock();
      finishClosing();
    }
  }

  @GuardedBy("reading")
  private void allocate(ByteBuffer first) {
    SSLEngine made = engines.get();
    int recordBytes = made.getSession().getPacketBufferSize();
    received = ByteBuffer.allocate(recordBytes).put(first).flip();
    sent = ByteBuffer.allocate(recordBytes);
    engine = made;
  }

  @GuardedBy("reading")
  private void handshake() throws IOException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> runTasks();
        case NEED_WRAP -> {
          if (!flush()) {
            throw new SSLException("the handshake does not go on");
          }
        }
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          makePlainRoom();
          if (unwrap(plain.compact()) < 0) {
            throw new ClientGoneException();
          }
          plain.flip();
        }
        case FINISHED, NOT_HANDSHAKING -> {
          return;
        }
      }
    }
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask(); task != null; ) {
      task.run();
      task = engine.getDelegatedTask();
    }
  }

  // ---- Reading ---------------------------------------------------------------------------------

  @Override
  public int read(ByteBuffer to) throws IOException {
    reading.lock();
    try {
      if (plain.hasRemaining()) {
        return takePlain(to);
      }
      if (ended) {
        return -1;
      }
      if (outputEnded) {
        return discard();
      }
      if (to.remaining() >= engine.getSession().getApplicationBufferSize()) {
        return unwrap(to);
      }
      makePlainRoom();
      int count;
      try {
        count = unwrap(plain.clear());
      } finally {
        plain.flip();
      }
      return count <= 0 ? count : takePlain(to);
    } finally {
      reading.unlock();
      finishClosing();
    }
  }

  @GuardedBy("reading")
  private void makePlainRoom() {
    int wanted = engine.getSession().getApplicationBufferSize();
    if (plain.capacity() < wanted) {
      plain = ByteBuffer.allocate(wanted).put(plain).flip();
    }
  }

  @GuardedBy("reading")
  private int takePlain(ByteBuffer to) {
    int count = Math.min(to.remaining(), plain.remaining());
    to.put(to.position(), plain, plain.position(), count);
    to.position(to.position() + count);
    plain.position(plain.position() + count);
    return count;
  }

  /**
   * Decrypts records until there is data for the reader or, in the handshake, one record. Returns
   * the bytes for the reader; 0: nothing now, without waiting; -1: the end.
   */
  @GuardedBy("reading")
  private int unwrap(ByteBuffer to) throws IOException {
    while (true) {
      SSLEngineResult result = unwrapOne(to);
      switch (result.getStatus()) {
        case BUFFER_UNDERFLOW -> {
          int count = receive();
          if (count <= 0) {
            ended = count < 0;
            return count;
          }
        }
        case CLOSED -> {
          ended = true;
          return -1;
        }
        case BUFFER_OVERFLOW -> throw new SSLException("a record is longer than it may be");
        case OK -> {
          if (!established || result.bytesProduced() > 0) {
            return result.bytesProduced();
          }
          afterSilentMessage(result.getHandshakeStatus());
        }
      }
    }
  }

  @GuardedBy("reading")
  private SSLEngineResult unwrapOne(ByteBuffer to) throws IOException {
    try {
      return engine.unwrap(received, to);
    } catch (SSLException e) {
      sayLast();
      throw e;
    }
  }

  /**
   * Looks at a message of the client that carries no data: with TLS 1.3 the message may change
   * keys; with TLS 1.2 it asks for another handshake. The engine's answer goes out with the next
   * write, because a write here could wait for a client that does not read.
   */
  private void afterSilentMessage(HandshakeStatus status) throws IOException {
    if (++silentMessages > MAX_SILENT_MESSAGES) {
      throw new SSLException("the client sends messages without end that say nothing");
    }
    if (status == HandshakeStatus.NOT_HANDSHAKING || status == HandshakeStatus.FINISHED) {
      return;
    }
    if (!engine.getSession().getProtocol().equals("TLSv1.3")) {
      throw new SSLException("the client asked for another handshake, which is refused");
    }
    if (status == HandshakeStatus.NEED_TASK) {
      runTasks();
    }
  }

  @GuardedBy("reading")
  private int receive() throws IOException {
    if (received.remaining() == received.capacity()) {
      throw new SSLException("a record is longer than it may be");
    }
    received.compact();
    try {
      return socket.read(received);
    } finally {
      received.flip();
    }
  }

  /** Skips encrypted input, which an engine with an ended output does not decrypt. */
  @GuardedBy("reading")
  private int discard() throws IOException {
    int count;
    do {
      count = socket.read(received.clear());
    } while (count > 0);
    received.clear().limit(0);
    return count;
  }

  // ---- Writing ---------------------------------------------------------------------------------

  @Override
  public int write(ByteBuffer from) throws IOException {
    return (int) write(new ByteBuffer[] {from}, 0, 1);
  }

  /** Writes one record. */
  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    writing.lock();
    try {
      silentMessages = 0;
      SSLEngineResult result = wrap(from, offset, count);
      if (result.bytesProduced() == 0) {
        throw new ClientGoneException(); // or the engine began a forbidden handshake
      }
      return result.bytesConsumed();
    } finally {
      writing.unlock();
    }
  }

  /** Sends the engine's own messages; true if there were any. */
  private boolean flush() throws IOException {
    writing.lock();
    try {
      boolean any = false;
      do {
        if (wrap(new ByteBuffer[] {NOTHING}, 0, 1).bytesProduced() == 0) {
          return any;
        }
        any = true;
      } while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP);
      return any;
    } finally {
      writing.unlock();
    }
  }

  /**
   * Sends the engine's last messages, such as an alert, as far as that does not block: the client
   * may not be reading.
   */
  private void sayLast() {
    outputEnded = true;
    try {
      socket.configureBlocking(false);
      flush();
    } catch (IOException e) {
      // The client will not get the message.
    }
  }

  @GuardedBy("writing")
  private SSLEngineResult wrap(ByteBuffer[] from, int offset, int count) throws IOException {
    sent.clear();
    SSLEngineResult result = engine.wrap(from, offset, count, sent);
    sent.flip();
    while (sent.hasRemaining()) {
      if (socket.write(sent) == 0) {
        break; // closing must not wait
      }
    }
    return result;
  }

  // ---- Ends ------------------------------------------------------------------------------------

  @Override
  public void configureBlocking(boolean blocking) throws IOException {
    socket.configureBlocking(blocking);
  }

  /** Ends the input; a handshake cannot go on without it, though it may be writing now. */
  @Override
  public void shutdownInput() throws IOException {
    if (established) {
      socket.shutdownInput();
    } else {
      socket.close();
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    writing.lock();
    try {
      engine.closeOutbound();
      sayLast();
      socket.configureBlocking(true);
      socket.shutdownOutput();
    } finally {
      writing.unlock();
    }
  }

  @Override
  public boolean isOpen() {
    return socket.isOpen();
  }

  /**
   * Tells the client about the end, if that does not block. A reading thread holds the lock, so it
   * is woken and tells the client itself; if a thread is writing, the client does not read.
   */
  @Override
  public void close() throws IOException {
    closing = true;
    if (!writing.tryLock()) {
      socket.close();
      return;
    }
    try {
      if (!reading.tryLock()) {
        socket.shutdownInput();
        return;
      }
      try {
        if (established && !outputEnded && socket.isOpen()) {
          engine.closeOutbound();
          sayLast();
        }
      } finally {
        reading.unlock();
        socket.close();
      }
    } finally {
      writing.unlock();
    }
  }

  private void finishClosing() throws IOException {
    if (closing && !reading.isHeldByCurrentThread()) {
      close();
    }
  }
}
