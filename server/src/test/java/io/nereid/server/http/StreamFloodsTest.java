package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.types.DataType;
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
}
