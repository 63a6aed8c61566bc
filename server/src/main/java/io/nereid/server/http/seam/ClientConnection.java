package io.nereid.server.http.seam;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import io.nereid.server.shared.ConnectionFailures.Reason;
import io.nereid.server.shared.HeapShare;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import javax.net.ssl.SSLException;

/**
 * Wraps Helidon's connection to one client: Helidon reads and writes through this class, which
 * passes tensors around Helidon and detects clients that are slow or leave. It counts in the heap's
 * budget. The virtual thread that Helidon gave the connection calls all methods; the watch and the
 * stopping thread only close it.
 */
public final class ClientConnection implements ServerConnection, ReaderOwner {

  private static final Logger LOGGER = System.getLogger(ClientConnection.class.getName());

  /** The heap of a connection, with Helidon's part: measured, and rounded up. */
  public static final int HEAP_BYTES = 48 << 10;

  /** The heap that encryption adds: keys, a record each way, and a decrypted one. */
  private static final int TLS_BYTES = 64 << 10;

  private final SeamContext context;
  private final ClientChannel channel;
  private final ClientReader reader;
  private final ClientWriter writer;
  private final ConnectionGuard guard;
  private final HeapShare heap;
  private final RequestEvents events;
  private final ServerConnection helidon;
  private final RequestLimit requests = new RequestLimit(this::requestEnded);
  private final int place; // its rank among the connections open at its arrival
  private boolean between = true; // between requests: nothing of the next one has come
  private long readingSinceNs; // when reading the present request began
  private boolean closing; // the connection ends with the present reply
  private boolean old;
  private volatile boolean stopping;

  /** Makes a connection, which counts until it has been handled. */
  ClientConnection(
      SeamContext context,
      ClientChannel channel,
      ConnectionContext original,
      ServerConnectionSelector http1,
      Function<ClientConnection, RequestEvents> observers) {
    this.context = context;
    this.channel = channel;
    reader = new ClientReader(this, channel, context.watch().rounds());
    guard = new ConnectionGuard(channel, reader, context.limits());
    writer = new ClientWriter(channel, guard, reader);
    heap = new HeapShare(context.heap());
    events = observers.apply(this);
    place = context.watch().add(guard);
    helidon = http1.connection(new HelidonContext(original, this));
  }

  /** The connection that a request came through. */
  public static ClientConnection of(ServerRequest request) {
    return HelidonContext.connection(request);
  }

  // ---- Its life --------------------------------------------------------------------------------

  @Override
  public void handle(Limit none) throws InterruptedException {
    long bytes = HEAP_BYTES + (channel.isEncrypted() ? TLS_BYTES : 0);
    boolean tooMany = place > context.limits().connectionCount();
    boolean admitted = !tooMany && context.heap().takeForConnection(bytes);
    try {
      guard.opening();
      if (!admitted) {
        guard.lingering(); // lingering gets little time
      }
      open();
      if (admitted) {
        helidon.handle(requests);
      } else {
        context.failures().add(tooMany ? Reason.LIMIT : Reason.MEMORY);
        refuse(tooMany ? countRefusal() : heapRefusal());
      }
      if (!between) {
        finishRequest(); // the request could not be read, and was answered
      }
      linger();
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (CloseConnectionException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
      if (closing) {
        lingerQuietly();
      }
    } finally {
      end(admitted ? bytes : 0);
    }
  }

  private void open() throws IOException {
    try {
      channel.open();
    } catch (SSLException e) {
      boolean closedHere = e.getCause() instanceof ClosedChannelException; // closed by the watch
      context.failures().add(closedHere ? Reason.TIMEOUT : Reason.TLS);
      throw e;
    }
  }

  private void end(long bytes) {
    try {
      if (!between) {
        finishRequest();
      }
    } finally {
      guard.close();
      context.watch().remove(guard);
      context.heap().giveBackOfConnection(bytes);
    }
  }

  @Override
  public Duration idleTime() {
    return Duration.ZERO; // the watch ends idle connections
  }

  @Override
  public void close(boolean interrupt) {
    stopping = true; // the connection ends with its next reply
    if (interrupt) {
      guard.close();
      helidon.close(true);
    }
  }

  private void refuse(String message) throws IOException {
    begin();
    events.replying(503);
    byte[] body = ErrorBody.json(message);
    String head =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
            + "Retry-After: 1\r\nConnection: close\r\nContent-Length: "
            + body.length
            + "\r\n\r\n";
    channel.writeAll(ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)));
    channel.writeAll(ByteBuffer.wrap(body));
  }

  private String countRefusal() {
    return "expected at most %s connections at a time%s"
        .formatted(context.limits().connectionCount(), context.connectionHint());
  }

  private String heapRefusal() {
    return ("connections hold %s and requests %s bytes of heap memory, and there is no more for "
            + "them. Start the server with a larger heap (-Xmx).")
        .formatted(context.heap().takenByConnections(), context.heap().takenByRequests());
  }

  /**
   * Gives the client a while to read the last reply, which the kernel would drop if the socket were
   * closed with unread input.
   */
  private void linger() throws IOException {
    guard.lingering();
    channel.shutdownOutput();
    reader.discard();
  }

  private void lingerQuietly() {
    try {
      linger();
    } catch (IOException | CloseConnectionException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    }
  }

  // ---- Its requests ----------------------------------------------------------------------------

  @Override
  public void awaiting() {
    if (between) {
      guard.idle();
    }
  }

  @Override
  public void received() {
    if (between) {
      begin();
    }
  }

  private void begin() {
    between = false;
    readingSinceNs = guard.reading();
    events.began();
  }

  @Override
  public boolean isBetween() {
    return between;
  }

  /** Notes the status of a reply that Helidon is about to write. */
  void replying(int status) {
    events.replying(status);
  }

  private void finishRequest() {
    between = true;
    try {
      events.ended();
    } finally {
      reader.requestEnded();
      heap.giveBack();
    }
  }

  /**
   * Ends a request: its reply was written and its body read; the next one may have come already.
   */
  void requestEnded() {
    finishRequest();
    if (closing || stopping) {
      closing = true;
      throw new ClientGoneException();
    }
    reader.breathe();
  }

  @Override
  public boolean repeat(byte[] bytes, int from, int length) {
    begin();
    try {
      events.repeated(bytes, from, length);
    } catch (CloseConnectionException | UncheckedIOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
      closing = true;
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
      closing = true;
    } finally {
      finishRequest();
    }
    if (closing) {
      guard.close();
      return false;
    }
    guard.idle();
    return true;
  }

  /** Ends the connection, from any thread. */
  public void giveUp() {
    guard.close();
  }

  // ---- For the handlers of requests ------------------------------------------------------------

  /** The listener to the connection's requests. */
  public RequestEvents events() {
    return events;
  }

  /** The reader of the client's bytes. */
  public ClientReader reader() {
    return reader;
  }

  /** The writer of bytes for the client. */
  public ClientWriter writer() {
    return writer;
  }

  /** The heap that the present request holds. */
  @Override
  public HeapShare heap() {
    return heap;
  }

  /** The channel to the client, with its addresses. */
  public ClientChannel channel() {
    return channel;
  }

  /** Ends the connection with the present reply, which tells the client. */
  public void closeAfterReply() {
    closing = true;
  }

  /** Notes a client of HTTP/1.0, whose connection ends with the reply. */
  @Override
  public void old() {
    old = true;
    closing = true;
  }

  /** True if the client speaks HTTP/1.0. */
  public boolean isOld() {
    return old;
  }

  /** True if the connection ends with the present reply. */
  public boolean closesAfterReply() {
    return closing;
  }

  /** When reading the present request began, by System.nanoTime. */
  public long readingSinceNs() {
    return readingSinceNs;
  }

  /**
   * Called when the handler begins to wait for an answer; it does not touch the body until {@link
   * #answered}. Meanwhile the client is watched: another thread runs {@code cancel} when it goes
   * away.
   */
  public void running(Runnable cancel) {
    guard.running(cancel);
  }

  /**
   * Like {@link #running}, between two parts of a reply; the client is watched only after some
   * seconds.
   */
  public void resting(Runnable cancel) {
    guard.resting(cancel);
  }

  /** Called when the handler has an answer, or a failure. */
  public void answered() {
    guard.answered();
  }

  /** True if the client went away while its request ran. */
  public boolean isClientGone() {
    return guard.clientGone();
  }

  @Override
  public SeamLimits limits() {
    return context.limits();
  }

  @Override
  public boolean timedOut() {
    return guard.timedOut();
  }
}
