package io.nereid.server.http;

import io.nereid.server.wire.Listener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * The least that a server can do behind the same listener: finds the length of a request, reads the
 * body, and sends it back. What {@link HttpLoad} compares with.
 */
final class BareEcho implements Runnable {

  private static final byte[] LENGTH = "\r\nContent-Length: ".getBytes(StandardCharsets.US_ASCII);

  private final SocketChannel channel;
  private final byte[] head = new byte[16 << 10];
  private ByteBuffer body = ByteBuffer.allocateDirect(1 << 20);

  private BareEcho(SocketChannel channel) {
    this.channel = channel;
  }

  /** Prints the port it listens on, and serves until the process ends. */
  public static void main(String[] args) {
    Listener listener =
        Listener.open(
            "echo", InetAddress.getLoopbackAddress(), 0, BareEcho::take, () -> System.exit(1));
    System.out.println("Serving HTTP at http://127.0.0.1:" + listener.port());
    System.out.println("Ready");
    LockSupport.park();
  }

  private static void take(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    Thread.ofVirtual().start(new BareEcho(channel));
  }

  @Override
  public void run() {
    try (channel) {
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
}
