package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.ByteBufUtil;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads packed by HPACK: the examples of RFC 7541, and Netty's packing beside ours. */
class HpackTest {

  private static final int MUCH = 1 << 20;

  private final HpackDecoder decoder = new HpackDecoder(MUCH);

  private List<String> read(String hex) {
    return read(decoder, HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  private static List<String> read(HpackDecoder from, byte[] block) {
    return from.read(block, block.length);
  }

  private static void assertBroken(HpackDecoder from, byte[] block) {
    Http2Failure failure = assertThrows(Http2Failure.class, () -> read(from, block));
    assertEquals(Http2Error.COMPRESSION_ERROR, failure.error());
  }

  @Test
  void theExamplesOfRequestsAreRead() {
    List<String> first =
        List.of(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "www.example.com");
    List<String> second = new ArrayList<>(first);
    second.addAll(List.of("cache-control", "no-cache"));
    List<String> third =
        List.of(
            ":method",
            "GET",
            ":scheme",
            "https",
            ":path",
            "/index.html",
            ":authority",
            "www.example.com",
            "custom-key",
            "custom-value");
    // Appendix C.3 is plain, C.4 is packed by Huffman's code.
    assertEquals(first, read("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"));
    assertEquals(second, read("8286 84be 5808 6e6f 2d63 6163 6865"));
    assertEquals(
        third, read("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"));
    HpackDecoder another = new HpackDecoder(MUCH);
    HexFormat hex = HexFormat.of();
    assertEquals(first, read(another, hex.parseHex("828684418cf1e3c2e5f23a6ba0ab90f4ff")));
    assertEquals(second, read(another, hex.parseHex("828684be5886a8eb10649cbf")));
    assertEquals(
        third, read(another, hex.parseHex("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf")));
  }

  /** Appendix C.6: replies, with a table of 256 bytes, which the first block says. */
  @Test
  void fieldsLeaveATableThatIsFull() {
    List<String> first =
        List.of(
            ":status",
            "302",
            "cache-control",
            "private",
            "date",
            "Mon, 21 Oct 2013 20:13:21 GMT",
            "location",
            "https://www.example.com");
    assertEquals(
        first,
        read(
            "3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6"
                + "2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3"));
    List<String> second = new ArrayList<>(first);
    second.set(1, "307");
    assertEquals(second, read("4883 640e ffc1 c0bf"));
    assertBroken(decoder, new byte[] {(byte) 0xc2}); // a fifth field, which there was room for once
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "80", // number 0
        "be", // a number that nothing has
        "ff ffff ffff 0f", // a number of too many bits
        "ff", // and of none
        "00", // a name without its length
        "00 05 61", // a name that is cut off
        "00 01 61 81 ff", // a filling of more than seven bits
        "00 01 61 84 ffff fffc", // the mark of an end in a text
        "00 01 61 81 18", // a filling that is none
        "82 20", // a size of the table behind a field
        "3f e2 1f", // a size that is larger than we allow
      })
  void whatIsNoHeadIsRefused(String hex) {
    assertBroken(decoder, HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  @Test
  void aLargeHeadIsReadForItsTableAlone() {
    HpackDecoder little = new HpackDecoder(100);
    byte[] adds = HexFormat.of().parseHex("4001610162"); // a: b
    byte[] tooMuch = HexFormat.of().parseHex("bebebebebe");
    assertEquals(List.of("a", "b"), read(little, adds));
    assertNull(read(little, tooMuch));
    assertEquals(List.of("a", "b"), read(little, new byte[] {(byte) 0xbe}));
  }

  @Test
  void theSameBytesAreTheSameListWhileTheyMeanTheSame() {
    List<String> one = read("8782");
    assertSame(one, read("8782"));
    read("4001610162"); // adds a field: from now on be is one
    List<String> known = read("be");
    assertEquals(List.of("a", "b"), known);
    assertSame(known, read("be"));
    read("4001630164");
    assertEquals(List.of("c", "d"), read("be"));
  }

  // ---- Netty's packing beside ours -------------------------------------------------------------

  private static String text(Random random, int most) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(most);
    boolean usual = random.nextBoolean();
    for (int i = 0; i < length; i++) {
      text.append((char) (usual ? 'a' + random.nextInt(26) : random.nextInt(256)));
    }
    return text.toString();
  }

  /** Names and values in turns, of which some are known and some come again. */
  private static List<String> fields(Random random, List<String> before) {
    List<String> fields = new ArrayList<>();
    for (int i = random.nextInt(12); i >= 0; i--) {
      if (!before.isEmpty() && random.nextInt(3) > 0) {
        int at = random.nextInt(before.size() / 2) * 2;
        fields.add(before.get(at));
        fields.add(random.nextInt(4) == 0 ? text(random, 20) : before.get(at + 1));
      } else {
        fields.add(random.nextInt(3) == 0 ? "content-type" : "x" + text(random, 30));
        fields.add(text(random, random.nextInt(20) == 0 ? 3000 : 60));
      }
    }
    return fields;
  }

  private static List<String> strings(Http2Headers headers) {
    List<String> all = new ArrayList<>();
    headers.forEach(field -> {
      all.add(field.getKey().toString());
      all.add(field.getValue().toString());
    });
    return all;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void whatNettyPacksIsRead(long seed) throws Exception {
    Random random = new Random(seed);
    DefaultHttp2HeadersEncoder netty = new DefaultHttp2HeadersEncoder();
    netty.configuration().maxHeaderListSize(MUCH);
    List<String> before = List.of();
    for (int i = 0; i < 400; i++) {
      if (random.nextInt(40) == 0) {
        netty.configuration().maxHeaderTableSize(random.nextInt(4097));
      }
      before = fields(random, before);
      DefaultHttp2Headers headers = new DefaultHttp2Headers(false);
      for (int f = 0; f < before.size(); f += 2) {
        headers.add(before.get(f), before.get(f + 1));
      }
      ByteBuf packed = Unpooled.buffer();
      netty.encodeHeaders(1, headers, packed);
      List<String> expected = strings(headers);
      assertEquals(expected, read(decoder, ByteBufUtil.getBytes(packed)), "seed " + seed);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void nettyReadsWhatIsPacked(long seed) throws Exception {
    Random random = new Random(seed);
    DefaultHttp2HeadersDecoder netty = new DefaultHttp2HeadersDecoder(false, MUCH);
    HpackEncoder encoder = new HpackEncoder();
    int[] codes = {200, 204, 404, 431, 100, 503};
    List<String> before = List.of();
    for (int i = 0; i < 400; i++) {
      if (random.nextInt(40) == 0) {
        for (int often = random.nextInt(3); often >= 0; often--) {
          encoder.tableBytes(random.nextInt(8192));
        }
      }
      before = fields(random, before);
      before.add(ReplyField.LENGTH.name);
      before.add(Integer.toString(random.nextInt(100)));
      int code = codes[random.nextInt(codes.length)];
      int length = encoder.write(code, before);
      DefaultHttp2Headers headers = new DefaultHttp2Headers(false);
      headers.add(":status", Integer.toString(code));
      for (int f = 0; f < before.size(); f += 2) {
        headers.add(before.get(f), before.get(f + 1));
      }
      ByteBuf packed = Unpooled.wrappedBuffer(encoder.block(), 0, length);
      assertEquals(strings(headers), strings(netty.decodeHeaders(1, packed)), "seed " + seed);
    }
  }

  /**
   * RFC 7541, 4.2: the smallest table that there was is said first, or the client has fields left.
   */
  @Test
  void aTableThatWasSmallerIsSaid() {
    HpackEncoder encoder = new HpackEncoder();
    encoder.tableBytes(0);
    encoder.tableBytes(4096);
    int length = encoder.write(200, List.of());
    assertEquals("203fe11f88", HexFormat.of().formatHex(encoder.block(), 0, length));
    length = encoder.write(200, List.of());
    assertEquals("88", HexFormat.of().formatHex(encoder.block(), 0, length));
  }

  /** Bytes without meaning do no more than to end a connection. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void bytesAtRandomAreAHeadOrBroken(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] block = new byte[random.nextInt(40)];
      random.nextBytes(block);
      HpackDecoder one = new HpackDecoder(1000);
      try {
        read(one, block);
        read(one, block);
      } catch (Http2Failure e) {
        assertEquals(Http2Error.COMPRESSION_ERROR, e.error());
      }
    }
  }
}
