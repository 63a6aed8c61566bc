package io.nereid.server.http;

import io.nereid.server.wire.ClientChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Random;

/** A client that has said everything it is going to say, without a network between. */
final class MemoryChannel implements ClientChannel {

  /** Most bytes of replies; then the client goes away. */
  private static final int MOST_BYTES = 4 << 20;

  /** Of nobody: connections ask their socket for addresses only. */
  private static final SocketChannel SOCKET = unconnected();

  private final ByteBuffer bytes;
  private final Random pieces; // null: everything at once
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private volatile boolean inputEnded;
  private volatile boolean blocking = true;
  private volatile boolean open = true;
  private boolean gone;

  /**
   * With what the client sends.
   *
   * @param inPieces whether bytes come and go a few at a time
   */
  MemoryChannel(byte[] bytes, boolean inPieces) {
    this.bytes = ByteBuffer.wrap(bytes);
    pieces = inPieces ? new Random(bytes.length) : null;
  }

  private static SocketChannel unconnected() {
    try {
      return SocketChannel.open();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What the client got. */
  byte[] written() {
    return written.toByteArray();
  }

  /** Whether the client went away before it had all replies. */
  boolean gone() {
    return gone;
  }

  @Override
  public SocketChannel socket() {
    return SOCKET;
  }

  @Override
  public boolean isEncrypted() {
    return false;
  }

  @Override
  public void open() {
    // There is nothing to agree on.
  }

  private int piece(int most) {
    if (pieces == null || pieces.nextInt(4) == 0) {
      return most;
    }
    return Math.min(most, 1 + pieces.nextInt(20));
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    checkOpen();
    if (inputEnded) {
      return -1;
    }
    if (!bytes.hasRemaining()) {
      return blocking ? -1 : 0; // it waits for its answers
    }
    int count = piece(Math.min(bytes.remaining(), to.remaining()));
    to.put(bytes.slice(bytes.position(), count));
    bytes.position(bytes.position() + count);
    return count;
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    checkOpen();
    if (written.size() > MOST_BYTES) {
      gone = true;
      throw new IOException("Broken pipe");
    }
    byte[] piece = new byte[piece(from.remaining())];
    from.get(piece);
    written.writeBytes(piece);
    return piece.length;
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    long sum = 0;
    for (int i = offset; i < offset + count; i++) {
      sum += write(from[i]);
      if (from[i].hasRemaining()) {
        break;
      }
    }
    return sum;
  }

  private void checkOpen() throws ClosedChannelException {
    if (!open) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public void configureBlocking(boolean waiting) {
    blocking = waiting;
  }

  @Override
  public void shutdownInput() {
    inputEnded = true;
  }

  @Override
  public void shutdownOutput() throws IOException {
    checkOpen();
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public void close() {
    open = false;
  }
}
