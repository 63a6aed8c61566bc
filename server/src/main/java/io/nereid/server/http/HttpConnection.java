package io.nereid.server.http;

import io.nereid.server.shared.ConnectionRefusals;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * One client's connection: reads requests and answers them, one after the other, on a virtual
 * thread of its own. It has no buffers before the client's first byte, and counts in the heap's
 * budget with what it has. Whatever goes wrong in it ends it alone, with its descriptor closed.
 */
final class HttpConnection implements Runnable {

  private static final Logger LOGGER = System.getLogger(HttpConnection.class.getName());

  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** Least size of the input's buffer: what is larger is read past it. */
  private static final int INPUT_BYTES = 16 << 10;

  private final HttpContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final int place; // among the connections that there were when it came
  private long heldBytes; // of the heap's budget, as a connection
  private long lentBytes; // of the heap's budget, to say that there is not enough of it

  /** Counts from now on, until it ran or was ended. */
  HttpConnection(HttpContext context, ClientChannel channel) {
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
    return place <= most + ConnectionRefusals.of(most) && takeHeap(HeapCosts.WAITING_BYTES);
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
      long bufferBytes = HeapCosts.ofBuffers(channel, inputBytes());
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
    if (channel.applicationProtocol().equals(HttpServer.HTTP_2) || Preface.leads(input)) {
      new StreamsConnection(context, channel, guard).serve(input);
      return;
    }
    ConnectionOutput output = new ConnectionOutput(channel, guard);
    Exchange exchange = exchange(input, output);
    while (awaitRequest(input)) {
      if (!exchange.serve()) {
        linger(input, output);
        return;
      }
    }
  }

  private Exchange exchange(ConnectionInput input, ConnectionOutput output) {
    HttpLimits limits = context.limits();
    RequestHeadParser heads = new RequestHeadParser(input, limits.headBytes(), context.kept());
    BodyReader body = new BodyReader(input, limits, () -> output.write(ByteBuffer.wrap(CONTINUE)));
    return new Exchange(context, channel, guard, heads, body, output);
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
    ConnectionOutput output = new ConnectionOutput(channel, guard);
    exchange(input, output).refuse(tooMany ? countRefusal() : heapRefusal());
    linger(input, output);
  }

  private String countRefusal() {
    return "expected at most "
        + context.limits().connectionCount()
        + " connections at a time"
        + (context.page() == null ? "; --http-max-connections sets the limit" : "");
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
  private void linger(ConnectionInput input, ConnectionOutput output) throws IOException {
    guard.lingering();
    output.end();
    do {
      input.skip(input.available());
    } while (input.fill());
  }
}
