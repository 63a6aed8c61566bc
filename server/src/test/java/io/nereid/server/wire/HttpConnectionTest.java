package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.HttpServer;
import io.nereid.server.http.TestServer;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a connection leaves behind, and what it takes before it is used. */
class HttpConnectionTest {

  private static final int MIB = 1 << 20;
  private static final byte[] GET =
      "GET /v2/health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
          .getBytes(StandardCharsets.US_ASCII);

  private final HeapBudget heap = new HeapBudget(MIB);
  private final ConnectionWatch watch = new ConnectionWatch("nrd-http");
  private final Nereid nereid = Nereid.create();
  private WireContext context;
  private SocketChannel client;
  private SocketChannel socket;

  @BeforeEach
  void open() throws IOException {
    ServerState state = ServerState.builder(nereid).build();
    context = HttpServer.context(state, HttpOptions.DEFAULT, watch, heap);
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      client = SocketChannel.open(listener.getLocalAddress());
      socket = listener.accept();
    }
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    socket.close();
    watch.close();
    nereid.close();
  }

  /** A real channel on which nothing can be read, for want of memory or of stack. */
  private static ClientChannel failing(SocketChannel socket, Supplier<Error> failure) {
    return new TlsChannel(
        new PlainChannel(socket),
        () -> {
          throw failure.get();
        });
  }

  private String answer() throws IOException {
    ByteBuffer answer = ByteBuffer.allocate(4096);
    while (client.read(answer) >= 0) {
      // until the end
    }
    return new String(answer.array(), 0, answer.position(), StandardCharsets.ISO_8859_1);
  }

  private void assertNothingIsLeft() {
    assertFalse(socket.isOpen());
    assertEquals(0, watch.count());
    assertEquals(0, heap.takenByConnections());
    assertEquals(0, heap.takenByRequests());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anErrorEndsOneConnection(boolean memory) throws IOException {
    Supplier<Error> failure =
        memory ? () -> new OutOfMemoryError("as if") : () -> new StackOverflowError("as if");
    HttpConnection connection = new HttpConnection(context, failing(socket, failure));
    assertTrue(connection.admit());
    client.write(ByteBuffer.wrap(GET));
    connection.run();
    assertNothingIsLeft();
  }

  @Test
  void buffersAreForThoseWhoSaySomething() throws Exception {
    HttpConnection connection = new HttpConnection(context, new PlainChannel(socket));
    assertTrue(connection.admit());
    Thread thread = Thread.ofVirtual().start(connection);
    TestServer.await(() -> thread.getState() == Thread.State.WAITING, "it does not wait");
    assertEquals(WireContext.WAITING_BYTES, heap.takenByConnections());
    client.write(ByteBuffer.wrap(GET, 0, 1));
    TestServer.await(
        () -> heap.takenByConnections() == WireContext.CONNECTION_BYTES, "there are no buffers");
    client.write(ByteBuffer.wrap(GET, 1, GET.length - 1));
    assertTrue(answer().startsWith("HTTP/1.1 200"));
    client.close();
    thread.join();
    assertNothingIsLeft();
  }

  @Test
  void withoutRoomForBuffersItSaysSo() throws Exception {
    long all = heap.connectionBytes() - WireContext.WAITING_BYTES;
    assertTrue(heap.takeForConnection(all));
    HttpConnection connection = new HttpConnection(context, new PlainChannel(socket));
    assertTrue(connection.admit());
    client.write(ByteBuffer.wrap(GET));
    Thread thread = Thread.ofVirtual().start(connection);
    client.shutdownOutput();
    String answer = answer();
    assertTrue(answer.startsWith("HTTP/1.1 503") && answer.contains("-Xmx"), answer);
    thread.join();
    HttpConnection another = new HttpConnection(context, new PlainChannel(socket));
    assertTrue(heap.takeForConnection(WireContext.WAITING_BYTES));
    assertFalse(another.admit());
    another.end();
    heap.giveBackOfConnection(all + WireContext.WAITING_BYTES);
    assertNothingIsLeft();
  }

  /** Whoever serves a stream needs another thread that can read meanwhile. */
  @Test
  void streamsAreRefusedWhileThereIsNoMemoryForThem() throws Exception {
    HttpConnection connection = new HttpConnection(context, new PlainChannel(socket));
    assertTrue(connection.admit());
    Thread thread = Thread.ofVirtual().start(connection);
    try (FrameClient frames = new FrameClient(client.socket()).begin()) {
      long before = heap.takenByConnections();
      while (heap.takeForConnection(1024)) {
        // all that connections may have
      }
      frames.head(1, true, "GET", "/v2/health/live");
      assertEquals(FrameClient.REFUSED_STREAM, frames.awaitReset(1));
      heap.giveBackOfConnection(heap.takenByConnections() - before);
      frames.get(3, "/v2/health/live").expect(200);
      assertEquals(
          WireContext.CONNECTION_BYTES + WireContext.STREAM_BYTES, heap.takenByConnections());
    }
    thread.join();
    assertNothingIsLeft();
  }
}
