package io.nereid.perf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import javax.net.ssl.SSLContext;

/** Opens connections of HTTP/1.1, and owns the few threads that wait for their replies. */
final class HttpSenders implements LoadRun.Senders {

  private static final int CONNECT_TIMEOUT_MS = 10_000;

  private final Target target;
  private final InetSocketAddress address;
  private final SSLContext tls; // null: without
  private final IntFunction<Requests.Position> positions;
  private final ReplyCheck check; // null: none
  private final List<Loop> loops = new ArrayList<>();
  private final Map<Encoded, ByteBuffer> tails = new ConcurrentHashMap<>();

  HttpSenders(
      Target target, IntFunction<Requests.Position> positions, ReplyCheck check, int threads)
      throws IOException {
    this.target = target;
    this.positions = positions;
    this.check = check;
    address = new InetSocketAddress(target.host(), target.port());
    tls = target.tls().map(TlsFiles::context).orElse(null);
    for (int i = 0; i < threads; i++) {
      loops.add(new Loop(i));
    }
  }

  @Override
  public Sender open(int index, SendingRun run) throws IOException {
    Loop loop = loops.get(index % loops.size());
    HttpSender sender = new HttpSender(index, this, loop, run, positions.apply(index));
    sender.connect();
    return sender;
  }

  /** Makes a connection in blocking mode. */
  Wire connect() throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.socket().connect(address, CONNECT_TIMEOUT_MS);
      return tls == null ? new Wire.Plain(channel) : Wire.Encrypted.connect(channel, tls, target);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  boolean checksReplies() {
    return check != null;
  }

  /** Returns the fault of a reply; null: there is none, or replies are not checked. */
  String fault(HttpReplyParser.Head head, byte[] body) {
    return check == null ? null : check.http(head, body);
  }

  /** Returns the tensors of a request, in one copy off the heap for all connections. */
  ByteBuffer tail(Encoded message) {
    return tails.computeIfAbsent(
        message,
        request -> ByteBuffer.allocateDirect(request.tail().length).put(request.tail()).flip());
  }

  @Override
  public List<Tally> tallies() {
    return loops.stream().map(Loop::tally).toList();
  }

  @Override
  public void close() {
    loops.forEach(Loop::close);
  }

  /** A thread that waits for replies on any number of connections. */
  static final class Loop implements AutoCloseable {

    /** Large enough for few reads a reply, small enough for the processor's cache. */
    private static final int READ_BYTES = 256 << 10;

    private final Selector selector;
    private final Tally tally = new Tally();
    private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
    private final Queue<HttpSender> arriving = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean closed;

    Loop(int index) throws IOException {
      selector = Selector.open();
      thread = new Thread(this::run, "nrd-perf-" + index);
      thread.setDaemon(true);
      thread.start();
    }

    Tally tally() {
      return tally;
    }

    /** Returns the buffer into which replies are read, by the thread of the loop only. */
    ByteBuffer in() {
      return in;
    }

    boolean isCurrent() {
      return Thread.currentThread() == thread;
    }

    /** Takes over a connected sender. */
    void attach(HttpSender sender) {
      arriving.add(sender);
      selector.wakeup();
    }

    void wakeUp() {
      selector.wakeup();
    }

    private void run() {
      while (!closed) {
        try {
          selector.select(this::serve);
          for (HttpSender sender = arriving.poll(); sender != null; sender = arriving.poll()) {
            sender.register(selector);
          }
        } catch (IOException e) {
          throw new UncheckedIOException("the selector failed", e);
        }
      }
    }

    private void serve(SelectionKey key) {
      HttpSender sender = (HttpSender) key.attachment();
      try {
        sender.serve(key.readyOps());
      } catch (CancelledKeyException e) {
        return; // closed meanwhile
      }
    }

    @Override
    public void close() {
      closed = true;
      selector.wakeup();
      try {
        thread.join();
        selector.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (IOException e) {
        return; // a failure to close does not matter
      }
    }
  }
}
