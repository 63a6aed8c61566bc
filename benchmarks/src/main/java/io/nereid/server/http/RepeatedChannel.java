package io.nereid.server.http;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.server.wire.ClientChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A client in memory that sends one request again and again, each time with another id if it has
 * one, and counts the bytes of replies.
 */
final class RepeatedChannel implements ClientChannel {

  /** A socket that is connected to nobody: connections ask it for addresses only. */
  private static final SocketChannel SOCKET = unconnected();

  private final byte[] request;
  private final int id; // where it is in the request; -1: there is none
  private final long count;
  private long sent; // whole requests
  private int position; // in the present one
  private long replyBytes;
  private boolean blocking = true;
  private boolean open = true;

  RepeatedChannel(byte[] request, long count) {
    this.request = request.clone();
    id = BenchmarkRequests.idPosition(request);
    this.count = count;
  }

  private static SocketChannel unconnected() {
    try {
      return SocketChannel.open();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  long replyBytes() {
    return replyBytes;
  }

  /** The rest of one request, as a client that waits for its answer would send it. */
  @Override
  public int read(ByteBuffer to) {
    if (sent == count || !blocking) {
      return sent == count ? -1 : 0;
    }
    int taken = Math.min(to.remaining(), request.length - position);
    to.put(request, position, taken);
    position += taken;
    if (position == request.length) {
      position = 0;
      if (id >= 0) {
        BenchmarkRequests.nextId(ByteBuffer.wrap(request), id);
      }
      sent++;
    }
    return taken;
  }

  @Override
  public int write(ByteBuffer from) {
    int taken = from.remaining();
    from.position(from.limit());
    replyBytes += taken;
    return taken;
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int count) {
    long taken = 0;
    for (int i = offset; i < offset + count; i++) {
      taken += write(from[i]);
    }
    return taken;
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

  @Override
  public void configureBlocking(boolean waiting) {
    blocking = waiting;
  }

  @Override
  public void shutdownInput() {
    // Nothing more is read when the requests have been sent.
  }

  @Override
  public void shutdownOutput() {
    // Nobody waits for the end.
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
