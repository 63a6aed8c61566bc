package io.nereid.benchmarks;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * One connection that sends one request again and again, each time with another id if it has one.
 * It allocates nothing meanwhile.
 */
public final class HttpExchange implements AutoCloseable {

  private static final int MOST_HEAD_BYTES = 4096;

  private final SocketChannel channel;
  private final ByteBuffer out;
  private final int id; // where it is in the request; -1: there is none
  private final ByteBuffer in = ByteBuffer.allocateDirect(4 << 20);
  private int length; // of a reply with its head, once it is known: all are alike

  /** Connects. */
  public HttpExchange(int port, byte[] request) throws IOException {
    out = ByteBuffer.allocateDirect(request.length).put(request).flip();
    id = BenchmarkRequests.idPosition(request);
    channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /** Sends the request and reads the reply; gives its length. */
  public int run() throws IOException {
    out.rewind();
    if (id >= 0) {
      BenchmarkRequests.nextId(out, id);
    }
    while (out.hasRemaining()) {
      channel.write(out);
    }
    in.clear();
    while (length == 0 || in.position() < length) {
      if (channel.read(in) < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (length == 0) {
        length = replyLength();
      }
    }
    return length;
  }

  /** From the head, when it is there; else 0. */
  private int replyLength() throws IOException {
    byte[] bytes = new byte[Math.min(in.position(), MOST_HEAD_BYTES)];
    in.get(0, bytes);
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      return 0;
    }
    if (!text.startsWith("HTTP/1.1 200")) {
      throw new IOException("expected a reply with 200, got " + text);
    }
    String field = "\r\nContent-Length: ";
    int at = text.indexOf(field) + field.length();
    return end + 4 + Integer.parseInt(text.substring(at, text.indexOf('\r', at)));
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
