package io.nereid.perf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLParameters;

/**
 * The bytes of a connection, plain or encrypted. Only connecting blocks; one thread calls at a
 * time.
 */
interface Wire {

  SocketChannel channel();

  /** Writes as much as the socket takes; true: all is written. */
  boolean write(ByteBuffer head, ByteBuffer tail) throws IOException;

  /** Returns how many bytes came, 0 when there are none now, -1 at the end. */
  int read(ByteBuffer into) throws IOException;

  /** True if there are buffered bytes, of which a selector does not tell. */
  boolean hasBuffered();

  void close();

  /** A connection without encryption. */
  final class Plain implements Wire {
    private final SocketChannel channel;
    private final ByteBuffer[] both = new ByteBuffer[2];

    Plain(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public SocketChannel channel() {
      return channel;
    }

    @Override
    public boolean write(ByteBuffer head, ByteBuffer tail) throws IOException {
      if (!tail.hasRemaining()) {
        channel.write(head);
        return !head.hasRemaining();
      }
      both[0] = head;
      both[1] = tail;
      channel.write(both);
      return !tail.hasRemaining();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return channel.read(into);
    }

    @Override
    public boolean hasBuffered() {
      return false;
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        return; // a failure to close does not matter
      }
    }
  }

  /** A connection encrypted by the JDK's TLS. */
  static final class Encrypted implements Wire {

    private final SocketChannel channel;
    private final SSLEngine engine;
    private final ByteBuffer netIn; // in filling mode between calls
    private final ByteBuffer netOut; // in emptying mode between calls
    private final ByteBuffer plainIn; // in emptying mode between calls
    private boolean undecided; // netIn may hold a whole record

    private Encrypted(SocketChannel channel, SSLEngine engine) {
      this.channel = channel;
      this.engine = engine;
      int packet = engine.getSession().getPacketBufferSize();
      netIn = ByteBuffer.allocateDirect(4 * packet);
      netOut = ByteBuffer.allocateDirect(4 * packet).limit(0);
      plainIn =
          ByteBuffer.allocateDirect(2 * engine.getSession().getApplicationBufferSize()).limit(0);
    }

    /** Performs the handshake over a channel in blocking mode. */
    static Encrypted connect(SocketChannel channel, SSLContext context, Target target)
        throws IOException {
      SSLEngine engine = context.createSSLEngine(target.host(), target.port());
      engine.setUseClientMode(true);
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
      Encrypted wire = new Encrypted(channel, engine);
      engine.beginHandshake();
      wire.handshake();
      return wire;
    }

    private void handshake() throws IOException {
      while (true) {
        switch (engine.getHandshakeStatus()) {
          case FINISHED, NOT_HANDSHAKING -> {
            return;
          }
          case NEED_TASK -> runTasks();
          case NEED_WRAP -> {
            wrap(ByteBuffer.allocate(0));
            while (netOut.hasRemaining()) {
              channel.write(netOut);
            }
          }
          case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
            if (unwrap().getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW
                && channel.read(netIn) < 0) {
              throw new IOException("the server closed the connection while TLS began");
            }
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

    private void wrap(ByteBuffer plain) throws IOException {
      netOut.compact();
      engine.wrap(plain, netOut);
      netOut.flip();
    }

    private SSLEngineResult unwrap() throws IOException {
      netIn.flip();
      plainIn.compact();
      try {
        return engine.unwrap(netIn, plainIn);
      } finally {
        plainIn.flip();
        netIn.compact();
      }
    }

    @Override
    public SocketChannel channel() {
      return channel;
    }

    @Override
    public boolean write(ByteBuffer head, ByteBuffer tail) throws IOException {
      while (true) {
        if (netOut.hasRemaining()) {
          channel.write(netOut);
          if (netOut.hasRemaining()) {
            return false;
          }
        }
        ByteBuffer next = head.hasRemaining() ? head : tail;
        if (!next.hasRemaining()) {
          return true;
        }
        wrap(next);
      }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      int count = 0;
      while (true) {
        count += move(into);
        if (count > 0 && (plainIn.hasRemaining() || !into.hasRemaining())) {
          return count;
        }
        SSLEngineResult result = unwrap();
        undecided = result.getStatus() == SSLEngineResult.Status.OK;
        switch (result.getStatus()) {
          case OK -> afterHandshakeMessage(result.getHandshakeStatus());
          case CLOSED -> {
            return count > 0 ? count : -1;
          }
          case BUFFER_OVERFLOW -> {
            return count;
          }
          case BUFFER_UNDERFLOW -> {
            int came = channel.read(netIn);
            if (came <= 0) {
              return count > 0 || came == 0 ? count : -1;
            }
          }
        }
      }
    }

    private int move(ByteBuffer into) {
      int count = Math.min(plainIn.remaining(), into.remaining());
      into.put(into.position(), plainIn, plainIn.position(), count);
      into.position(into.position() + count);
      plainIn.position(plainIn.position() + count);
      return count;
    }

    /** Handles tickets and changes of keys, which come at any time and may need an answer. */
    private void afterHandshakeMessage(HandshakeStatus status) throws IOException {
      if (status == HandshakeStatus.NEED_TASK) {
        runTasks();
      } else if (status == HandshakeStatus.NEED_WRAP) {
        wrap(ByteBuffer.allocate(0));
        channel.write(netOut); // the rest goes with the next request
      }
    }

    @Override
    public boolean hasBuffered() {
      return plainIn.hasRemaining() || undecided;
    }

    @Override
    public void close() {
      engine.closeOutbound();
      try (channel) {
        wrap(ByteBuffer.allocate(0));
        channel.write(netOut);
      } catch (IOException e) {
        return; // a failure to close does not matter
      }
    }
  }
}
