package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What RFC 9113 asks of clients, and what becomes of those that do something else. */
class StreamRulesTest {

  private static final int PROTOCOL_ERROR = 1;
  private static final int FLOW_CONTROL_ERROR = 3;
  private static final int STREAM_CLOSED = 5;
  private static final int FRAME_SIZE_ERROR = 6;

  private static final String PATH = "/v2/models/FP32/infer";

  private static final String INFER = StreamsTest.INFER;
  private static final String ASKING_FOR_ZEROS = StreamsTest.ASKING_FOR_ZEROS;

  private static FrameClient connect(TestServer server) throws IOException {
    return new FrameClient(server.port()).begin();
  }

  private static byte[] setting(int number, int value) {
    return ByteBuffer.allocate(6).putShort((short) number).putInt(value).array();
  }

  /** Stream 1 is one whose body goes on, and stream 3 has ended. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 00, 1", // DATA of no stream
    "0, 8, 1, 05000000, 1", // more padding than bytes
    "0, 8, 1, '', 1", // padding without its length
    "1, 5, 0, 82, 1", // a head of no stream
    "1, 5, 4, 828684, 1", // a stream of the server
    "1, 13, 5, 05828684, 1", // more padding than bytes
    "1, 37, 5, 8286, 1", // less than a priority
    "2, 0, 0, 0000000000, 1", // a priority of no stream
    "2, 0, 5, 00000000, 6", // and of the wrong length
    "3, 0, 0, 00000008, 1", // a reset of no stream
    "3, 0, 5, 00000008, 1", // of one that was not begun
    "3, 0, 1, 000008, 6", // and of the wrong length
    "4, 0, 1, '', 1", // settings of a stream
    "4, 1, 0, 000300000064, 6", // an answer with settings
    "4, 0, 0, 000200000002, 1", // neither 0 nor 1
    "4, 0, 0, 000480000000, 3", // a window that is too large
    "4, 0, 0, 000500003fff, 1", // frames that are too short
    "4, 0, 0, 000501000000, 1", // or too long
    "5, 4, 1, 00000002828684, 1", // a promise
    "6, 0, 0, 00000000000000, 6", // a short ping
    "7, 0, 1, 0000000000000000, 1", // the end of a stream's connection
    "7, 0, 0, 00000000, 6", // an end without a reason
    "8, 0, 0, 00000000, 1", // a window that does not grow
    "8, 0, 5, 00000001, 1", // of a stream that was not begun
    "8, 0, 0, 7fffffff, 3", // and that grows too much
    "8, 0, 0, 000001, 6", // or by less than four bytes
    "9, 4, 1, 82, 1", // the rest of no head
    "1, 1, 5, 82, 1", // a head that goes on with another frame
    "0, 0, 2, 00, 1", // DATA of a stream of the server
  })
  void aMistakeOfTheConnectionEndsIt(int type, int flags, int stream, String payload, int error)
      throws Exception {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", PATH).get(3, "/v2/health/live").expect(200);
      client.frame(type, flags, stream, HexFormat.of().parseHex(payload));
      if (type == FrameClient.HEADERS && flags == FrameClient.END_STREAM) {
        client.frame(FrameClient.PING, 0, 0, new byte[8]);
      }
      assertEquals(error, client.awaitGoAway());
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void aClientThatSendsOnLearnsWhyItsConnectionEnds() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      assertEquals(FRAME_SIZE_ERROR, client.sendMistakeAndMore().awaitGoAway());
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void headsThatNeverEndEndTheConnection() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      byte[] block = FrameClient.block("GET", "/v2", "x-long", "a".repeat(100));
      client.frame(FrameClient.HEADERS, FrameClient.END_STREAM, 1, block);
      try {
        for (int i = 0; i < 1000; i++) {
          client.frame(FrameClient.CONTINUATION, 0, 1, new byte[] {0});
        }
      } catch (IOException e) {
        // The server had enough.
      }
      assertEquals(FrameClient.ENHANCE_YOUR_CALM, client.awaitGoAway());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n",
        "PRI * HTTP/2.0\r\nHost: a\r\n\r\n",
      })
  void aBrokenPrefaceIsRefused(String preface) throws Exception {
    try (TestServer server = new TestServer();
        RawClient client = server.connect()) {
      RawClient.Response response = client.send(preface).receive().expect(505);
      assertTrue(response.text().contains("expected HTTP/1.1"), response.text());
    }
  }

  @ParameterizedTest
  @CsvSource({"6, 0, 1, 8, 1", "0, 0, 1, 10, 1", "1, 5, 1, 1, 9", "1, 5, 2, 0, 1", "4, 0, 0, 5, 6"})
  void brokenFramesEndTheConnection(int type, int flags, int stream, int length, int error)
      throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      client.frame(type, flags, stream, new byte[length]);
      assertEquals(error, client.awaitGoAway());
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void thePrefaceMayComeInPieces() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = new FrameClient(server.port())) {
      for (char c : "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".toCharArray()) {
        client.sendText(String.valueOf(c));
        Thread.yield();
      }
      client.frame(FrameClient.SETTINGS, 0, 0, new byte[0]);
      client.get(1, "/v2").expect(200);
      client.frame(FrameClient.PING, 0, 0, new byte[8]).await(FrameClient.PING, 1);
    }
  }

  @Test
  void settingsComeFirst() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = new FrameClient(server.port())) {
      client.sendText("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      client.head(1, true, "GET", "/v2");
      assertEquals(PROTOCOL_ERROR, client.awaitGoAway());
    }
  }

  @Test
  void aFrameThatIsTooLongEndsTheConnection() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      byte[] tooLong = {0, 64, 1, 0, 0, 0, 0, 0, 1};
      assertEquals(6, client.send(tooLong).awaitGoAway());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X-Upper a",
        "connection close",
        "transfer-encoding chunked",
        "keep-alive 1",
        "upgrade h2c",
        "te gzip",
        ":path /twice",
        ":status 200",
        "with(bracket a",
        "content-length 1",
      })
  void aHeadThatIsNoneEndsItsStreamAlone(String field) throws Exception {
    String[] parts = field.split(" ", 2);
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      client.head(1, true, "GET", "/v2", parts[0], parts[1]);
      assertEquals(PROTOCOL_ERROR, client.awaitReset(1));
      client.get(3, "/v2", "te", "trailers", "content-length", "0").expect(200);
    }
  }

  @Test
  void pseudoFieldsComeFirst() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      ByteArrayOutputStream block = new ByteArrayOutputStream();
      block.writeBytes(HexFormat.of().parseHex("00016101628286")); // a: b, :method, :scheme
      block.write(0x84);
      int whole = FrameClient.END_HEADERS | FrameClient.END_STREAM;
      client.frame(FrameClient.HEADERS, whole, 1, block.toByteArray());
      assertEquals(PROTOCOL_ERROR, client.awaitReset(1));
      client.get(3, "/v2").expect(200);
    }
  }

  @ParameterizedTest
  @CsvSource({"60, true", "62, true", "62, false"})
  void aBodyIsAsLongAsItsHeadSays(int length, boolean last) throws Exception {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", PATH, "content-length", "61");
      client.data(1, new byte[length], last);
      assertEquals(PROTOCOL_ERROR, client.awaitReset(1));
      String right = Integer.toString(INFER.length());
      client.post(3, PATH, INFER, "content-length", right).await(3).expect(200);
    }
  }

  @Test
  void fieldsBehindABodyEndIt() throws Exception {
    byte[] fields = HexFormat.of().parseHex("0001610162"); // a: b
    byte[] pseudo = {(byte) 0x84}; // :path
    byte[] body = INFER.getBytes(StandardCharsets.US_ASCII);
    int last = FrameClient.END_HEADERS | FrameClient.END_STREAM;
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", PATH).data(1, body, false);
      client.frame(FrameClient.HEADERS, last, 1, fields).await(1).expect(200);
      client.head(3, false, "POST", PATH).data(3, body, false);
      client.frame(FrameClient.HEADERS, FrameClient.END_HEADERS, 3, fields);
      assertEquals(PROTOCOL_ERROR, client.awaitReset(3));
      client.head(5, false, "POST", PATH).data(5, body, false);
      client.frame(FrameClient.HEADERS, last, 5, pseudo);
      assertEquals(PROTOCOL_ERROR, client.awaitReset(5));
      client.get(7, "/v2").expect(200);
    }
  }

  @Test
  void nothingFollowsTheEndOfABody() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        FrameClient client = connect(server)) {
      client.post(1, "/v2/models/gate/infer", INFER);
      gate.awaitBatch();
      client.data(1, new byte[1], false);
      assertEquals(STREAM_CLOSED, client.awaitReset(1));
      client.post(3, "/v2/models/gate/infer", INFER);
      client.head(3, true, "POST", "/v2/models/gate/infer");
      assertEquals(STREAM_CLOSED, client.awaitReset(3));
      gate.open(2);
      client.data(1, new byte[1], true); // was under way
      client.get(5, "/v2").expect(200);
    }
  }

  @Test
  void aWindowGrowsNoLargerThanItCan() throws Exception {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", PATH).grant(1, Integer.MAX_VALUE);
      assertEquals(FLOW_CONTROL_ERROR, client.awaitReset(1));
      client.get(3, "/v2").expect(200);
    }
  }

  @Test
  void whatComesBehindTheEndOfAStreamCountsAsRead() throws Exception {
    byte[] frame = FrameClient.bytes(FrameClient.DATA, 0, 1, new byte[16 << 10]);
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", PATH, "content-length", "100000000"); // too large
      assertEquals(0, client.awaitReset(1));
      for (int i = 0; i < 1000; i++) { // several times what the connection has room for
        client.send(frame);
      }
      client.get(3, "/v2").expect(200);
    }
  }

  @Test
  void framesMayHaveFillingAndPriorities() throws Exception {
    byte[] head = FrameClient.block("POST", PATH);
    byte[] body = INFER.getBytes(StandardCharsets.US_ASCII);
    ByteArrayOutputStream filledHead = new ByteArrayOutputStream();
    filledHead.write(7);
    filledHead.writeBytes(new byte[5]); // a priority
    filledHead.writeBytes(head);
    filledHead.writeBytes(new byte[7]);
    ByteArrayOutputStream filledBody = new ByteArrayOutputStream();
    filledBody.write(200);
    filledBody.writeBytes(body);
    filledBody.writeBytes(new byte[200]);
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      int filled = FrameClient.END_HEADERS | FrameClient.PADDED | 0x20;
      client.frame(FrameClient.HEADERS, filled, 1, filledHead.toByteArray());
      int ends = FrameClient.END_STREAM | FrameClient.PADDED;
      client.frame(FrameClient.DATA, ends, 1, filledBody.toByteArray()).await(1).expect(200);
      client.frame(FrameClient.HEADERS, 0, 3, Arrays.copyOf(head, 5));
      client.frame(FrameClient.CONTINUATION, 0, 3, Arrays.copyOfRange(head, 5, 20));
      byte[] rest = Arrays.copyOfRange(head, 20, head.length);
      client.frame(FrameClient.CONTINUATION, FrameClient.END_HEADERS, 3, rest);
      client.data(3, body, true).await(3).expect(200);
      client.frame(0x7A, 0xff, 77, new byte[100]); // of a type that nobody knows
      client.frame(FrameClient.SETTINGS, 0, 0, setting(0x1234, 5));
      client.get(5, "/v2").expect(200);
    }
  }

  @Test
  void aClientMayKeepNoTableOfFields() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      String type = client.get(1, "/v2").expect(200).fields.get("content-type");
      client.frame(FrameClient.SETTINGS, 0, 0, setting(1, 0));
      for (int stream = 3; stream < 9; stream += 2) {
        assertEquals(type, client.get(stream, "/v2").expect(200).fields.get("content-type"));
      }
      client.frame(FrameClient.SETTINGS, 0, 0, setting(1, 1 << 20));
      for (int stream = 9; stream < 15; stream += 2) {
        assertEquals(type, client.get(stream, "/v2").expect(200).fields.get("content-type"));
      }
    }
  }

  /** A window may become smaller than what is under way, and then less than nothing. */
  @Test
  void aWindowMayShrink() throws Exception {
    try (TestServer server = new TestServer().load(TestServer.zeros(100_000));
        FrameClient client = new FrameClient(server.port()).begin(10_000)) {
      client.post(1, "/v2/models/zeros/infer", ASKING_FOR_ZEROS);
      while (client.reply(1).body.size() < 10_000) {
        client.next();
      }
      client.frame(FrameClient.SETTINGS, 0, 0, setting(4, 1000)); // 9000 less than nothing
      client.grant(1, 9001);
      while (client.reply(1).body.size() < 10_001) {
        client.next();
      }
      client.frame(FrameClient.PING, 0, 0, new byte[8]).await(FrameClient.PING, 1);
      assertEquals(10_001, client.reply(1).body.size());
      client.frame(FrameClient.SETTINGS, 0, 0, setting(4, 1 << 20));
      assertEquals(100_000, client.await(1).expect(200).binary().length);
    }
  }

  /** Streams that wait for the connection's window get some of it each. */
  @Test
  void repliesShareTheWindowOfTheirConnection() throws Exception {
    try (TestServer server = new TestServer().load(TestServer.zeros(200_000));
        FrameClient client = new FrameClient(server.port())) {
      client.sendText("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      client.frame(FrameClient.SETTINGS, 0, 0, setting(4, 1 << 24));
      for (int stream = 1; stream < 9; stream += 2) {
        client.post(stream, "/v2/models/zeros/infer", ASKING_FOR_ZEROS);
      }
      int received = 0;
      while (received < 65_535) { // what a connection begins with
        received += data(client.next());
      }
      for (int stream = 1; stream < 9; stream += 2) { // until all of them wait
        while (!client.reply(stream).fields.containsKey(":status")) {
          client.next();
        }
      }
      client.frame(FrameClient.PING, 0, 0, new byte[8]).await(FrameClient.PING, 1);
      int[] before = new int[4];
      for (int i = 0; i < 4; i++) {
        before[i] = client.reply(2 * i + 1).body.size();
      }
      client.grant(0, 4 * (16 << 10));
      for (int more = 0; more < 4 * (16 << 10); ) {
        more += data(client.next());
      }
      int gained = 0;
      for (int i = 0; i < 4; i++) {
        gained += client.reply(2 * i + 1).body.size() > before[i] ? 1 : 0;
      }
      assertTrue(gained >= 3, gained + " streams got some of it");
      client.grant(0, 1 << 24);
      for (int stream = 1; stream < 9; stream += 2) {
        assertEquals(200_000, client.await(stream).expect(200).binary().length);
      }
    }
  }

  private static int data(FrameClient.Frame frame) {
    return frame.type() == FrameClient.DATA ? frame.payload().length : 0;
  }

  /** However what a client sends is cut into pieces, it means the same. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void piecesOfAnyLengthMeanTheSame(long seed) throws Exception {
    Random random = new Random(seed);
    byte[] tensor = new byte[100_000];
    random.nextBytes(tensor);
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[1,100000],"
            + "\"parameters\":{\"binary_data_size\":100000}}],"
            + "\"parameters\":{\"binary_data_output\":true}}";
    String length = Integer.toString(json.length());
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int stream = 1; stream < 9; stream += 2) {
      byte[] head =
          FrameClient.block(
              "POST",
              "/v2/models/UINT8/infer",
              "inference-header-content-length",
              length,
              "x-filling",
              "a".repeat(random.nextInt(3000)));
      all.writeBytes(FrameClient.bytes(FrameClient.HEADERS, 4, stream, head));
      byte[] text = json.getBytes(StandardCharsets.US_ASCII);
      all.writeBytes(FrameClient.bytes(FrameClient.DATA, 0, stream, text));
      for (int at = 0; at < tensor.length; ) {
        int count = Math.min(tensor.length - at, 1 + random.nextInt(16 << 10));
        byte[] part = Arrays.copyOfRange(tensor, at, at + count);
        at += count;
        int last = at == tensor.length ? FrameClient.END_STREAM : 0;
        all.writeBytes(FrameClient.bytes(FrameClient.DATA, last, stream, part));
        all.writeBytes(FrameClient.bytes(FrameClient.PING, 1, 0, new byte[8]));
      }
    }
    byte[] bytes = all.toByteArray();
    try (TestServer server = new TestServer().identity(DataType.UINT8);
        FrameClient client = connect(server)) {
      for (int at = 0; at < bytes.length; ) {
        int most = random.nextInt(3) == 0 ? 20 : 70_000;
        int count = Math.min(bytes.length - at, 1 + random.nextInt(most));
        client.send(Arrays.copyOfRange(bytes, at, at + count));
        at += count;
      }
      for (int stream = 1; stream < 9; stream += 2) {
        assertArrayEquals(tensor, client.await(stream).expect(200).binary());
      }
    }
  }
}
