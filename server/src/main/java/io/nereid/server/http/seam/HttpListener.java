package io.nereid.server.http.seam;

import io.helidon.common.buffers.BufferData;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.RequestException;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ErrorHandling;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionListener;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import io.nereid.server.shared.ConnectionFailures;
import io.nereid.server.shared.ConnectionRefusals;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.TlsSettings;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Helidon's web server at one port, with Nereid's connections around its own: it listens, accepts,
 * parses, routes and answers. The code that starts the frontends opens the listener, and the code
 * that stops them stops it.
 */
public final class HttpListener {

  private static final String HTTP_1 = "http/1.1";

  /** The most connections that wait in the system to be accepted. */
  private static final int BACKLOG = 1024;

  private static final long POLL_NS = 2_000_000;

  /** The time for abandoned connections to notice that. */
  private static final long LEAVE_NS = 1_000_000_000;

  /** Helidon's own limit of a stop, which is never reached: {@link #stop} has one. */
  private static final Duration GRACE = Duration.ofDays(1);

  private final WebServer server;
  private final ConnectionWatch watch;

  private HttpListener(WebServer server, ConnectionWatch watch) {
    this.server = server;
    this.watch = watch;
  }

  /**
   * Listens; returns when connections are accepted.
   *
   * @param name the name of the port in the log
   * @param tls the settings of encryption; empty: none
   * @param context the parts that connections share; its watch is closed at the end
   * @param observers makes the listener to a connection's requests
   * @param routing the routes of requests
   * @param ended runs when the port stops accepting without {@link #stop}
   * @throws NereidException if the port cannot be used
   */
  public static HttpListener open(
      String name,
      InetAddress address,
      int port,
      Optional<ServerTlsOptions> tls,
      SeamContext context,
      Function<ClientConnection, RequestEvents> observers,
      HttpRouting.Builder routing,
      Runnable ended) {
    try {
      PollerStart.await();
      checkFree(address, port);
      leaveSerializationAlone();
      AcceptedChannels accepted = new AcceptedChannels();
      Selector selector =
          new Selector(context, observers, accepted, tls.map(TlsSettings::open).orElse(null));
      int most = context.limits().connectionCount();
      WebServer server =
          WebServer.builder()
              .name(name)
              .address(address)
              .port(port)
              .backlog(BACKLOG)
              .shutdownHook(false)
              .shutdownGracePeriod(GRACE)
              .protocolsDiscoverServices(false)
              .featuresDiscoverServices(false)
              .maxTcpConnections(most + ConnectionRefusals.of(most))
              .maxPayloadSize(-1)
              .writeBufferSize(0)
              .connectionOptions(accepted)
              .addConnectionSelector(selector)
              .contentEncoding(new AsTheyCome())
              .errorHandling(ErrorHandling.builder().includeEntity(true).build())
              .directHandlers(directHandlers())
              .addRouting(routing)
              .build();
      SurvivingProvider.open(
          server::start, ended, () -> context.failures().add(ConnectionFailures.Reason.ACCEPT));
      if (!server.isRunning()) {
        throw cannotListen(address, port, "see the log");
      }
      return new HttpListener(server, context.watch());
    } catch (RuntimeException | Error e) {
      context.watch().close();
      throw e;
    }
  }

  /** A routing for a listener, to which the endpoints are added. */
  public static HttpRouting.Builder routing() {
    return HttpRouting.builder().route(NoPath.route());
  }

  /**
   * Keeps Helidon from setting the JVM-wide filter for Java's serialization, which would affect the
   * program around the server, and from failing because of another filter.
   */
  private static void leaveSerializationAlone() {
    for (String event : new String[] {"missing", "failure"}) {
      System.getProperties().putIfAbsent("helidon.serialFilter." + event + ".action", "ignore");
    }
  }

  /** Throws with a clear text if the port is taken, where Helidon would log a stack trace. */
  private static void checkFree(InetAddress address, int port) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true); // as the listening socket has it
      probe.bind(new InetSocketAddress(address, port));
    } catch (IOException e) {
      throw cannotListen(address, port, e.getMessage());
    }
  }

  private static NereidException cannotListen(InetAddress address, int port, String why) {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        ("expected to listen at %s:%s, got nothing (%s): is the port in use, or the address "
                + "of another machine?")
            .formatted(address.getHostAddress(), port, why));
  }

  /** Helidon's text in place of one that repeats what the client sent. */
  private static final String UNSAFE = "Bad request, see server log";

  /** The beginning of its texts on request lines; the rest depends on how the bytes arrive. */
  private static final String UNREADABLE = "Invalid prologue";

  private static final String TOO_LONG = "Header size exceeded";

  private static final HeaderName NO_NAME = HeaderNames.create("");

  /** Answers unreadable requests with JSON, as other errors. */
  private static DirectHandlers directHandlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, HttpListener::tell);
    }
    return handlers.build();
  }

  private static DirectHandler.TransportResponse tell(
      DirectHandler.TransportRequest request,
      DirectHandler.EventType type,
      Status status,
      ServerResponseHeaders headers,
      String message) {
    Status told = status;
    String text = message;
    boolean gaveUp =
        type == DirectHandler.EventType.INTERNAL_ERROR && request.method().isEmpty(); // its parser
    if (gaveUp || text == null || text.startsWith(UNSAFE) || text.startsWith(UNREADABLE)) {
      told = gaveUp ? Status.BAD_REQUEST_400 : status;
      text = "expected a request line as METHOD PATH HTTP/1.1, and header fields as Name: value";
    } else if (text.equals(TOO_LONG) || status.code() == 414) {
      told = Status.create(431, "Request Header Fields Too Large");
      text = "the head of the request is too long; --http-max-header-size sets the limit";
    }
    headers.set(HeaderValues.CONTENT_TYPE_JSON);
    headers.set(HeaderValues.CONNECTION_CLOSE);
    return DirectHandler.TransportResponse.builder()
        .status(told)
        .headers(headers)
        .keepAlive(false)
        .entity(ErrorBody.json(text))
        .build();
  }

  /** The port at which this listens. */
  public int port() {
    return server.port();
  }

  /** The number of open connections. */
  public int connectionCount() {
    return watch.count();
  }

  /**
   * Accepts no more requests, lets those that have begun finish, and closes all connections.
   *
   * @param timeout when requests that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    // Helidon closes the port, tells all connections, and waits until their threads have ended.
    Thread stop = Thread.ofVirtual().name("nrd-http-stop").start(server::stop);
    while (watch.isBusy() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    boolean finished = !watch.isBusy();
    watch.closeIdle();
    watch.abortAll();
    while (stop.isAlive() && System.nanoTime() - deadlineNs < LEAVE_NS) {
      LockSupport.parkNanos(POLL_NS);
    }
    watch.closeAll();
    watch.close();
    return finished;
  }

  /** Wraps each of Helidon's connections into a {@link ClientConnection}. */
  private static final class Selector implements ServerConnectionSelector {

    private final SeamContext context;
    private final Function<ClientConnection, RequestEvents> observers;
    private final AcceptedChannels accepted;
    private final TlsSettings tls; // null: no encryption
    private final Http1ConnectionSelector http1;

    Selector(
        SeamContext context,
        Function<ClientConnection, RequestEvents> observers,
        AcceptedChannels accepted,
        TlsSettings tls) {
      this.context = context;
      this.observers = observers;
      this.accepted = accepted;
      this.tls = tls;
      int headBytes = context.limits().headBytes();
      Http1Config config =
          Http1Config.builder()
              .maxPrologueLength(headBytes)
              .maxHeadersSize(headBytes)
              .sendKeepAliveHeader(false)
              .addReceiveListener(new Heads())
              .addSendListener(new Heads())
              .build();
      http1 = Http1ConnectionSelector.builder().config(config).build();
    }

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
      return Set.of(HTTP_1);
    }

    @Override
    public ServerConnection connection(ConnectionContext original) {
      SocketChannel socket =
          accepted
              .take(original.localPeer().address(), original.remotePeer().address())
              .orElseThrow(ClientGoneException::new);
      ClientChannel channel =
          tls == null
              ? new PlainChannel(socket)
              : new TlsChannel(socket, () -> tls.newEngine(HTTP_1));
      return new ClientConnection(context, channel, original, http1, observers);
    }
  }

  /** Tells a connection of each head, also of replies that no route made. */
  private static final class Heads implements Http1ConnectionListener {
    @Override
    public void status(ConnectionContext context, Status status) {
      ((HelidonContext) context).connection().replying(status.code());
    }

    @Override
    public void headers(ConnectionContext context, Headers headers) {
      if (headers.contains(NO_NAME)) {
        throw RequestException.builder()
            .type(DirectHandler.EventType.BAD_REQUEST)
            .setKeepAlive(false)
            .message("expected header fields as Name: value, got one without a name")
            .build();
      }
      if (headers.containsToken(HeaderValues.CONNECTION_CLOSE)) {
        ((HelidonContext) context).connection().closeAfterReply(); // Helidon would go on reading
      }
    }
  }
}
