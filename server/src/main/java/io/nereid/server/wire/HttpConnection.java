package io.nereid.server.wire;

import io.nereid.server.shared.ConnectionRefusals;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One client's connection: reads requests and answers them, one after the other. It begins on a
 * virtual thread of its own. One that is not encrypted joins a round ({@link ReadingRound}) after
 * some requests, and is read by the thread that goes round; if a request keeps the others waiting,
 * it has a thread of its own again, of the platform while it is busy ({@link BusyReaders}). It has
 * no buffers before the client's first byte, and counts in the heap's budget with what it has.
 * Whatever goes wrong in it ends it alone, with its descriptor closed.
 */
public final class HttpConnection implements PortConnection, ReadingRound.Member {

  private static final Logger LOGGER = System.getLogger(HttpConnection.class.getName());

  /** Least size of the input's buffer: what is larger is read past it. */
  private static final int INPUT_BYTES = 16 << 10;

  /** So many requests are served by a thread of its own before it joins a round. */
  private static final int FEW_ALONE = 4;

  /** The same where requests turn out time and again to take long. */
  private static final int MANY_ALONE = 4096;

  /** After so many requests in a round it will do with few outside of one again. */
  private static final int MANY_IN_ROUND = 64;

  /** What the thread that serves it begins with. */
  private enum Part {
    /** The first byte, which has a thread of its own. */
    FIRST,
    /** Requests that have a thread of their own. */
    ALONE,
    /** A request that has come, with the thread that goes round. */
    IN_ROUND
  }

  /** The kind of thread that serves what comes then. */
  private enum Next {
    /** Nobody: that was all. */
    END,
    /** A round, unless it has left that, and is another thread's already. */
    ROUND,
    /** A thread of the platform, if there is one, while it is busy, and else a virtual one. */
    OTHER_THREAD
  }

  private final WireContext context;
  private final ClientChannel channel;
  private final PlainChannel plain; // the same; null: it is encrypted, and joins no round
  private final ConnectionGuard guard;
  private final int place; // among the connections that there were when it came
  private long heldBytes; // of the heap's budget, as a connection
  private long lentBytes; // of the heap's budget, to say that there is not enough of it
  private ConnectionInput input; // null: nothing has come
  private RequestBody body; // null: it is not known to be HTTP/1.1
  private HttpExchange exchange; // the same

  private int aloneCount = FEW_ALONE; // requests, before it joins a round
  private int leftAlone = FEW_ALONE; // of them
  private int roundCount; // requests since it joined the round
  private final ReadingPace pace; // outside of rounds

  /** Counts from now on, until it ran or was ended. */
  public HttpConnection(WireContext context, ClientChannel channel) {
    this.context = context;
    this.channel = channel;
    plain = channel instanceof PlainChannel itself ? itself : null;
    guard = new ConnectionGuard(channel, context.limits());
    place = context.watch().add(guard);
    pace = new ReadingPace(context.watch().readers());
  }

  @Override
  public String threadName() {
    return "nrd-http";
  }

  /**
   * Whether there is the little that it takes to wait for the first byte, or to be told why not.
   */
  @Override
  public boolean admit() {
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
    serveAndEnd(Part.FIRST);
  }

  @Override
  public void goOn() {
    serveAndEnd(Part.ALONE);
  }

  private void serveAndEnd(Part part) {
    AtomicReference<Next> next = new AtomicReference<>(Next.END);
    try {
      next.set(serve(part));
      while (next.get() == Next.OTHER_THREAD) {
        if (pace.wantsThread()) {
          context.watch().readers().run(pace, () -> next.set(serve(Part.ALONE)));
        } else {
          next.set(serve(Part.ALONE));
        }
      }
    } finally {
      if (next.get() != Next.ROUND) {
        end();
      }
    }
  }

  @Override
  public boolean serveInRound() {
    return serve(Part.IN_ROUND) == Next.ROUND;
  }

  private Next serve(Part part) {
    try {
      return switch (part) {
        case FIRST -> begin();
        case ALONE -> serveAlone();
        case IN_ROUND -> serveNext();
      };
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    }
    return Next.END;
  }

  private Next begin() throws IOException {
    if (channel.isEncrypted()) {
      guard.opening(); // the handshake's time begins now
    } else {
      guard.idle();
    }
    boolean tooMany = place > context.limits().connectionCount();
    if (!tooMany && !channel.awaitFirst()) {
      return Next.END;
    }
    long bufferBytes = WireContext.bufferBytes(channel, inputBytes());
    if (!tooMany && takeHeap(bufferBytes)) {
      channel.open();
      return serveFirst();
    }
    if (context.heap().take(bufferBytes)) {
      lentBytes = bufferBytes;
      guard.lingering(); // it gets little time
      channel.open();
      refuse(tooMany);
    }
    return Next.END;
  }

  @Override
  public PlainChannel plain() {
    return plain;
  }

  /** Closes it, and gives back what it held. */
  @Override
  public void end() {
    pace.restart();
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

  private Next serveFirst() throws IOException {
    input = new ConnectionInput(channel, inputBytes());
    guard.input(input);
    guard.idle();
    if (channel.applicationProtocol().equals(HttpPort.HTTP_2) || beginsWithPreface()) {
      new Http2Connection(context, channel, guard).serve(input);
      return Next.END;
    }
    exchange = newExchange();
    return serveAlone();
  }

  /** Serves requests until a round takes it, another kind of thread does, or its end. */
  private Next serveAlone() throws IOException {
    boolean wantedThread = pace.wantsThread();
    while (awaitRequest()) {
      if (!exchange.serve()) {
        linger();
        return Next.END;
      }
      leftAlone--;
      if (leftAlone <= 0 && plain != null && input.available() == 0 && joinRound()) {
        return Next.ROUND;
      }
      pace.read(body.received());
      if (pace.wantsThread() != wantedThread) {
        return Next.OTHER_THREAD;
      }
    }
    return Next.END;
  }

  /** Whether it has a round's thread from now on, and this one may not touch it any more. */
  private boolean joinRound() {
    aloneCount = roundCount > MANY_IN_ROUND ? FEW_ALONE : Math.min(2 * aloneCount, MANY_ALONE);
    leftAlone = aloneCount;
    roundCount = 0;
    pace.restart();
    guard.idle();
    return context.watch().rounds().take(this);
  }

  /** Serves what has come while it is in a round, where it goes on, unless it has left it. */
  private Next serveNext() throws IOException {
    if (!input.fill()) {
      return Next.END;
    }
    guard.reading();
    if (!exchange.serve()) {
      linger();
      return Next.END;
    }
    roundCount++;
    if (input.available() > 0) {
      channel.stepAside(); // it does not wait for answers: the selector would not tell of the next
    }
    guard.idle();
    return Next.ROUND;
  }

  private HttpExchange newExchange() {
    WireLimits limits = context.limits();
    HeadReader heads = new HeadReader(input, limits.headBytes());
    Http1Reply reply = new Http1Reply(channel);
    body = new RequestBody(input, limits, reply::sendContinue);
    return new HttpExchange(context, heads, body, reply).on(channel, guard);
  }

  /** Waits for as much of the input as it takes to know, and takes nothing. */
  private boolean beginsWithPreface() throws IOException {
    while (true) {
      int count = Math.min(input.available(), FrameReader.PREFACE.length);
      for (int i = 0; i < count; i++) {
        if (input.bytes()[input.position() + i] != FrameReader.PREFACE[i]) {
          return false;
        }
      }
      if (count == FrameReader.PREFACE.length) {
        return true;
      }
      if (!input.fill()) {
        return false;
      }
    }
  }

  /** Whether there is something to read. */
  private boolean awaitRequest() throws IOException {
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
    input = new ConnectionInput(channel, inputBytes());
    newExchange().refuse(tooMany ? countRefusal() : heapRefusal());
    linger();
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
  private void linger() throws IOException {
    channel.stepAside();
    guard.lingering();
    channel.shutdownOutput();
    do {
      input.skip(input.available());
    } while (input.fill());
  }
}
