package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.types.DataType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients of HTTP/2 that send frame after frame for nothing. */
class StreamFloodsTest {

  private static final String PATH = "/v2/models/FP32/infer";

  @ParameterizedTest
  @EnumSource
  void aFloodEndsItsConnection(FrameFlood flood) throws Exception {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient other = new FrameClient(server.port()).begin();
        FrameClient client = new FrameClient(server.port()).begin()) {
      int few = flood.most() / 2;
      for (int i = 0; i < few; i++) {
        flood.send(client, i, PATH);
      }
      client.get(10_001, "/v2/health/live").expect(200); // so many are nothing unusual
      // What was asked for made up for one.
      flood.sendAll(client, 6_000 + few, 6_001 + flood.most(), PATH);
      assertEquals(FrameClient.ENHANCE_YOUR_CALM, client.awaitGoAway());
      other.get(1, "/v2/health/live").expect(200);
      TestServer.await(() -> server.http().connectionCount() == 1, "the connection is still open");
    }
  }

  /**
   * Each byte of a body makes up for a ping, and so nothing of this is a flood of empty frames. The
   * server reads on for a while, so that the client learns why.
   */
  @Test
  void whoReadsNoAnswersToItsPingsLosesItsConnection() throws Exception {
    HttpLimits limits =
        new HttpLimits(
            64 << 20, 16 << 10, 100, 20, 4, Duration.ofSeconds(2), Duration.ofMinutes(1));
    byte[] pair =
        RawClient.concat(
            FrameClient.bytes(FrameClient.DATA, 0, 1, new byte[] {' '}),
            FrameClient.bytes(FrameClient.PING, 0, 0, new byte[8]));
    byte[] pairs = new byte[1000 * pair.length];
    for (int i = 0; i < 1000; i++) {
      System.arraycopy(pair, 0, pairs, i * pair.length, pair.length);
    }
    try (TestServer server = new TestServer(limits).identity(DataType.FP32);
        Socket socket = new Socket()) {
      socket.setReceiveBufferSize(4096);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
      FrameClient client = new FrameClient(socket).begin();
      client.head(1, false, "POST", PATH);
      assertThrows(
          IOException.class,
          () -> {
            long endNs = System.nanoTime() + TestServer.PATIENCE.toNanos();
            while (System.nanoTime() < endNs) {
              client.send(pairs);
            }
          });
      TestServer.await(() -> server.http().connectionCount() == 0, "the connection is still open");
    }
  }
}
