package io.nereid.server.wire;

import io.nereid.server.shared.ConnectionRefusals;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * One client's connection: reads requests and answers them, one after the other, on a virtual
 * thread of its own. It has no buffers before the client's first byte, and counts in the heap's
 * budget with what it has. Whatever goes wrong in it ends it alone, with its descriptor closed.
 */
public final class HttpConnection implements Runnable {

  private static final Logger LOGGER = System.getLogger(HttpConnection.class.getName());

  /** What is agreed on by ALPN for HTTP/2. */
  static final String HTTP_2 = "h2";

  /** What a client sends first when it knows that the server speaks HTTP/2. */
  private static final byte[] PREFACE = ReplyField.ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

  /** Least size of the input's buffer: what is larger is read past it. */
  private static final int INPUT_BYTES = 16 << 10;

  private final WireContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final int place; // among the connections that there were when it came
  private long heldBytes; // of the heap's budget, as a connection
  private long lentBytes; // of the heap's budget, to say that there is not enough of it

  /** Counts from now on, until it ran or was ended. */
  public HttpConnection(WireContext context, ClientChannel channel) {
    this.context = context;
    this.channel = channel;
    guard = new ConnectionGuard(channel, context.limits());
    place = context.watch().add(guard);
  }

  /**
   * Whether there is the little that it takes to wait for the first byte, or to be told why not.
   */
  boolean admit() {
    int most = context.limits().connectionCount();
    return place <= most + ConnectionRefusals.of(most) && takeHeap(WireContext.WAITING_BYTES);
  }

  private boolean takeHeap(long bytes) {
    if (!context.heap().takeForConnection(bytes)) {
      return false;
    }
    heldBytes += bytes;
    return true;
  }

  @Override
  public void run() {
    try {
      if (channel.isEncrypted()) {
        guard.opening(); // the handshake's time begins now
      } else {
        guard.idle();
      }
      boolean tooMany = place > context.limits().connectionCount();
      if (!tooMany && !channel.awaitFirst()) {
        return;
      }
      long bufferBytes = WireContext.bufferBytes(channel, inputBytes());
      if (!tooMany && takeHeap(bufferBytes)) {
        channel.open();
        serve();
      } else if (context.heap().take(bufferBytes)) {
        lentBytes = bufferBytes;
        guard.lingering(); // it gets little time
        channel.open();
        refuse(tooMany);
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      end();
    }
  }

  /** Closes it, and gives back what it held. */
  void end() {
    try {
      guard.close();
    } finally {
      context.watch().remove(guard);
      context.heap().giveBackOfConnection(heldBytes);
      context.heap().giveBack(lentBytes);
    }
  }

  private int inputBytes() {
    return Math.max(INPUT_BYTES, context.limits().headBytes());
  }

  private void serve() throws IOException {
    ConnectionInput input = new ConnectionInput(channel, inputBytes());
    guard.input(input);
    guard.idle();
    if (channel.applicationProtocol().equals(HTTP_2) || beginsWithPreface(input)) {
      new Http2Connection(context, channel, guard).serve(input);
      return;
    }
    HttpExchange exchange = exchange(input);
    while (awaitRequest(input)) {
      if (!exchange.serve()) {
        linger(input);
        return;
      }
    }
  }

  private HttpExchange exchange(ConnectionInput input) {
    WireLimits limits = context.limits();
    HeadReader heads = new HeadReader(input, limits.headBytes());
    Http1Reply reply = new Http1Reply(channel);
    RequestBody body = new RequestBody(input, limits, reply::sendContinue);
    return new HttpExchange(context, heads, body, reply).on(channel, guard);
  }

  /** Waits for as much of the input as it takes to know, and takes nothing. */
  private static boolean beginsWithPreface(ConnectionInput input) throws IOException {
    while (true) {
      int count = Math.min(input.available(), PREFACE.length);
      for (int i = 0; i < count; i++) {
        if (input.bytes()[input.position() + i] != PREFACE[i]) {
          return false;
        }
      }
      if (count == PREFACE.length) {
        return true;
      }
      if (!input.fill()) {
        return false;
      }
    }
  }

  /** Whether there is something to read. */
  private boolean awaitRequest(ConnectionInput input) throws IOException {
    if (input.available() == 0) {
      guard.idle();
      if (!input.fill()) {
        return false;
      }
    }
    guard.reading();
    return true;
  }

  private void refuse(boolean tooMany) throws IOException {
    ConnectionInput input = new ConnectionInput(channel, inputBytes());
    exchange(input).refuse(tooMany ? countRefusal() : heapRefusal());
    linger(input);
  }

  private String countRefusal() {
    return "expected at most "
        + context.limits().connectionCount()
        + " connections at a time"
        + context.connectionHint();
  }

  private String heapRefusal() {
    return "connections hold "
        + context.heap().takenByConnections()
        + " and requests "
        + context.heap().takenByRequests()
        + " bytes of heap memory, and there is no more for them. Start the server with a larger"
        + " heap (-Xmx).";
  }

  /**
   * Closing with unread input makes the kernel drop what was written last: lets the client read it
   * first, for a while.
   */
  private void linger(ConnectionInput input) throws IOException {
    guard.lingering();
    channel.shutdownOutput();
    do {
      input.skip(input.available());
    } while (input.fill());
  }
}
