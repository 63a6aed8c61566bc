package io.nereid.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The least that a server can do behind the same listener: finds the length of a request, reads the
 * body, and sends it back. What {@link HttpLoad} compares with.
 */
final class BareEcho implements ServerConnection {

  private static final byte[] LENGTH = "\r\nContent-Length: ".getBytes(StandardCharsets.US_ASCII);

  private final SocketChannel channel;
  private final byte[] head = new byte[16 << 10];
  private ByteBuffer body = ByteBuffer.allocateDirect(1 << 20);

  private BareEcho(SocketChannel channel) {
    this.channel = channel;
  }

  /** Prints the port it listens on, and serves until the process ends. */
  public static void main(String[] args) {
    Logger.getLogger("io.helidon").setLevel(Level.WARNING);
    AcceptedChannels channels = new AcceptedChannels();
    WebServer server =
        WebServer.builder()
            .address(InetAddress.getLoopbackAddress())
            .connectionOptions(channels)
            .addConnectionSelector(new Selector(channels))
            .protocolsDiscoverServices(false)
            .build()
            .start();
    System.out.println("Serving HTTP at http://127.0.0.1:" + server.port());
    System.out.println("Ready");
  }

  private record Selector(AcceptedChannels channels) implements ServerConnectionSelector {

    @Override
    public int bytesToIdentifyConnection() {
      return 0;
    }

    @Override
    public Support supports(BufferData data) {
      return Support.SUPPORTED;
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
      return Set.of("http/1.1");
    }

    @Override
    public ServerConnection connection(ConnectionContext context) {
      return new BareEcho(channels.take(context.remotePeer().address()));
    }
  }

  @Override
  public void handle(Limit limit) {
    try {
      while (echo()) {
        // the next one
      }
    } catch (IOException e) {
      // The client is done.
    }
  }

  private boolean echo() throws IOException {
    ByteBuffer view = ByteBuffer.wrap(head);
    int end = -1;
    while (end < 0) {
      if (channel.read(view) < 0) {
        return false;
      }
      end = headEnd(view.position());
    }
    int length = contentLength(end);
    byte[] reply =
        ("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: "
                + length
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    body.clear().limit(length);
    body.put(head, end, view.position() - end);
    while (body.hasRemaining()) {
      channel.read(body);
    }
    body.flip();
    ByteBuffer[] all = {ByteBuffer.wrap(reply), body};
    while (body.hasRemaining()) {
      channel.write(all);
    }
    return true;
  }

  private int headEnd(int limit) {
    for (int i = 0; i + 3 < limit; i++) {
      if (head[i] == '\r' && head[i + 1] == '\n' && head[i + 2] == '\r' && head[i + 3] == '\n') {
        return i + 4;
      }
    }
    return -1;
  }

  private int contentLength(int end) {
    for (int i = 0; i < end; i++) {
      int j = 0;
      while (j < LENGTH.length && head[i + j] == LENGTH[j]) {
        j++;
      }
      if (j == LENGTH.length) {
        int length = 0;
        for (int k = i + j; head[k] >= '0'; k++) {
          length = length * 10 + head[k] - '0';
        }
        return length;
      }
    }
    return 0;
  }

  @Override
  public Duration idleTime() {
    return Duration.ZERO;
  }

  @Override
  public void close(boolean interrupt) {}
}
