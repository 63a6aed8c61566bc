package io.nereid.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;

/** Connections of HTTP/1.1, shared out over a few threads. */
final class HttpSlots implements Slots {

  private static final int CONNECT_TIMEOUT_MS = 10_000;

  private final Target target;
  private final InetSocketAddress address;
  private final SSLContext tls; // null: without
  private final Requests requests;
  private final ReplyCheck check; // null: none
  private final List<HttpLoop> loops = new ArrayList<>();
  private final Map<Encoded, ByteBuffer> tails = new ConcurrentHashMap<>();

  HttpSlots(Target target, Requests requests, ReplyCheck check, int threads) throws IOException {
    this.target = target;
    this.requests = requests;
    this.check = check;
    address = new InetSocketAddress(target.host(), target.port());
    tls = target.tls().map(TlsFiles::context).orElse(null);
    for (int i = 0; i < threads; i++) {
      loops.add(new HttpLoop(i));
    }
  }

  @Override
  public Slot open(int index, LoadRun run) throws IOException {
    HttpLoop loop = loops.get(index % loops.size());
    HttpSlot slot = new HttpSlot(index, this, loop, run, requests.position(index));
    slot.connect();
    return slot;
  }

  /** A connection that blocks. */
  Wire connect() throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.socket().connect(address, CONNECT_TIMEOUT_MS);
      return tls == null ? new Wire.Plain(channel) : TlsWire.connect(channel, tls, target);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  boolean checksReplies() {
    return check != null;
  }

  /** What is wrong with a reply; null: nothing, or nobody looks. */
  String fault(HttpReplyHead head, byte[] body) {
    return check == null ? null : check.http(head, body);
  }

  /** The tensors of a request, off the heap, for all connections. */
  ByteBuffer tail(Encoded message) {
    return tails.computeIfAbsent(
        message,
        request -> ByteBuffer.allocateDirect(request.tail().length).put(request.tail()).flip());
  }

  @Override
  public List<Tally> tallies() {
    return loops.stream().map(HttpLoop::tally).toList();
  }

  @Override
  public void close() {
    loops.forEach(HttpLoop::close);
  }
}
