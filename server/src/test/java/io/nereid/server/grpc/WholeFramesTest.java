package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.ByteBufUtil;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import io.nereid.server.http.FrameClient;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames that come in pieces reach a decoder of HTTP/2 whole. */
class WholeFramesTest {

  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  private final EmbeddedChannel channel =
      new EmbeddedChannel(new WholeFrames(Duration.ofMinutes(1), () -> {}, stream -> {}));
  private final List<ByteBuf> sent = new ArrayList<>();

  private void send(byte[] bytes) {
    ByteBuf piece = Unpooled.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
    sent.add(piece);
    channel.writeInbound(piece);
  }

  /** The buffers that were passed on, one after the other. */
  private List<byte[]> passedOn() {
    List<byte[]> all = new ArrayList<>();
    for (ByteBuf bytes; (bytes = channel.readInbound()) != null; ) {
      all.add(ByteBufUtil.getBytes(bytes));
      bytes.release();
    }
    return all;
  }

  private static byte[] join(List<byte[]> parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    parts.forEach(all::writeBytes);
    return all.toByteArray();
  }

  private void endsWithoutMemory() {
    channel.finishAndReleaseAll();
    sent.forEach(bytes -> assertEquals(0, bytes.refCnt()));
  }

  /** Where frames begin, after the preface, and where the last one ends. */
  private static List<Integer> bounds(byte[] bytes) {
    List<Integer> bounds = new ArrayList<>(List.of(PREFACE.length()));
    while (bounds.getLast() < bytes.length) {
      int at = bounds.getLast();
      int length = (bytes[at] & 0xFF) << 16 | (bytes[at + 1] & 0xFF) << 8 | bytes[at + 2] & 0xFF;
      bounds.add(at + 9 + length);
    }
    return bounds;
  }

  private static byte[] frames(Random random) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(PREFACE.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    for (int i = 0; i < 40; i++) {
      byte[] payload = new byte[random.nextInt(4) == 0 ? 16 << 10 : random.nextInt(40)];
      random.nextBytes(payload);
      all.writeBytes(
          FrameClient.bytes(random.nextInt(10), random.nextInt(256), random.nextInt(9), payload));
    }
    return all.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 10, 100, 1000, 20_000, 100_000})
  void allFramesArePassedOnWholeAndAtOnce(int most) {
    Random random = new Random(most);
    byte[] bytes = frames(random);
    List<Integer> bounds = bounds(bytes);
    List<byte[]> all = new ArrayList<>();
    int passed = 0;
    for (int at = 0; at < bytes.length; ) {
      int count = Math.min(bytes.length - at, 1 + random.nextInt(most));
      send(Arrays.copyOfRange(bytes, at, at + count));
      at += count;
      for (byte[] part : passedOn()) {
        all.add(part);
        passed += part.length;
        int end = passed;
        int here = at;
        assertFalse(
            end > PREFACE.length() && !bounds.contains(end), () -> "cut at " + end + " of " + here);
      }
      int before = at;
      int whole = bounds.stream().filter(bound -> bound <= before).reduce(0, Math::max);
      assertEquals(Math.max(whole, Math.min(at, PREFACE.length())), passed);
    }
    assertArrayEquals(bytes, join(all));
    endsWithoutMemory();
  }

  @Test
  void aFrameThatIsTooLongIsNotWaitedFor() {
    send(PREFACE.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    byte[] tooLong = {0, 64, 1, 0, 0, 0, 0, 0, 1, 5, 6, 7};
    passedOn();
    send(tooLong);
    assertArrayEquals(tooLong, join(passedOn()));
    send(Arrays.copyOf(tooLong, 4));
    send(Arrays.copyOfRange(tooLong, 4, 9));
    assertArrayEquals(Arrays.copyOf(tooLong, 9), join(passedOn()));
    endsWithoutMemory();
  }

  @Test
  void incompleteFramesAreReleasedAtTheEnd() {
    send((PREFACE + "\0\0\7\0\0\0").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    assertEquals(1, passedOn().size());
    endsWithoutMemory();
  }
}
