package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.http.FrameClient;
import io.nereid.server.shared.FrameCount;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The codec of HTTP/2 alone, where a server would read too fast, or could not be told apart. */
class Http2CodecTest {

  private static final int FRAME_BYTES = 16 << 10;
  private static final int STREAM_WINDOW_BYTES = 1 << 20;
  private static final int CONNECTION_WINDOW_BYTES = 4 << 20;
  private static final int WHOLE = FrameClient.END_HEADERS;

  private final List<Http2Stream> open = new ArrayList<>();
  private boolean readsAll;

  private final Http2Codec codec =
      new Http2Codec(
          WireLimits.USUAL.headBytes(),
          WireLimits.MAX_STREAMS,
          Http2Streams.USUAL_WINDOW_BYTES,
          (stream, fields, last) -> {
            stream.listener = new Reader(stream);
            return open.add(stream);
          });

  /** Reads all that comes, or nothing. */
  private final class Reader implements Http2Stream.Listener {
    private final Http2Stream stream;

    Reader(Http2Stream stream) {
      this.stream = stream;
    }

    @Override
    public int received(ByteBuffer data, boolean last) {
      return readsAll ? data.remaining() : 0;
    }

    @Override
    public void inputEnded() {}

    @Override
    public void sent() {}

    @Override
    public void closed() {
      open.remove(stream);
    }
  }

  private boolean receive(byte[] bytes) {
    return codec.received(bytes, 0, bytes.length);
  }

  private void begin() {
    receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    assertTrue(receive(FrameClient.bytes(FrameClient.SETTINGS, 0, 0, new byte[0])));
    sent();
  }

  private boolean post(int stream) {
    return receive(
        FrameClient.bytes(FrameClient.HEADERS, WHOLE, stream, FrameClient.block("POST", "/v2")));
  }

  private boolean data(int stream) {
    return receive(FrameClient.bytes(FrameClient.DATA, 0, stream, new byte[FRAME_BYTES]));
  }

  /** What is to be written by now. */
  private List<FrameClient.Frame> sent() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (ByteBuffer piece : codec.frames().take()) {
      byte[] bytes = new byte[piece.remaining()];
      piece.get(bytes);
      all.writeBytes(bytes);
    }
    codec.frames().written();
    codec.allWritten();
    ByteBuffer rest = ByteBuffer.wrap(all.toByteArray());
    List<FrameClient.Frame> frames = new ArrayList<>();
    while (rest.hasRemaining()) {
      int start = rest.getInt();
      int flags = rest.get();
      int stream = rest.getInt();
      byte[] payload = new byte[start >>> 8];
      rest.get(payload);
      frames.add(new FrameClient.Frame(start & 0xff, flags, stream, payload));
    }
    return frames;
  }

  @Test
  void aStreamHasRoomForAWindow() {
    begin();
    post(1);
    for (int i = 0; i < STREAM_WINDOW_BYTES / FRAME_BYTES; i++) {
      assertTrue(data(1));
    }
    assertEquals(List.of(), sent());
    assertTrue(data(1));
    FrameClient.Frame reset = sent().getFirst();
    assertEquals(FrameClient.RESET, reset.type());
    assertEquals(Http2Error.FLOW_CONTROL_ERROR.number, reset.number());
    assertTrue(open.isEmpty());
  }

  @Test
  void aConnectionHasRoomForAWindow() {
    begin();
    int streams = CONNECTION_WINDOW_BYTES / STREAM_WINDOW_BYTES;
    for (int i = 0; i <= streams; i++) {
      assertTrue(post(2 * i + 1));
    }
    for (int i = 0; i < CONNECTION_WINDOW_BYTES / FRAME_BYTES; i++) {
      assertTrue(data(2 * (i % streams) + 1));
    }
    assertEquals(List.of(), sent());
    assertFalse(data(2 * streams + 1));
    FrameClient.Frame goAway = sent().getFirst();
    assertEquals(FrameClient.GO_AWAY, goAway.type());
    assertEquals(Http2Error.FLOW_CONTROL_ERROR.number, ByteBuffer.wrap(goAway.payload()).getInt(4));
    codec.close();
    assertTrue(open.isEmpty());
  }

  /** What nobody read of a stream that has ended is room for others again. */
  @Test
  void roomComesBackWhenItIsUsedOrItsStreamEnds() {
    begin();
    post(1);
    int granted = 0;
    for (int i = 0; i < 10 * CONNECTION_WINDOW_BYTES / FRAME_BYTES; i++) {
      readsAll = i % 3 > 0;
      int stream = 1 + 2 * (i / 64);
      if (i % 64 == 0 && i > 0) {
        post(stream);
        reset(stream - 2);
      }
      assertTrue(data(stream), "frame " + i);
      for (FrameClient.Frame frame : sent()) {
        assertEquals(FrameClient.WINDOW_UPDATE, frame.type(), "frame " + i);
        granted += frame.stream() == 0 ? frame.number() : 0;
      }
    }
    assertTrue(granted >= 9 * CONNECTION_WINDOW_BYTES - STREAM_WINDOW_BYTES, granted + " bytes");
  }

  private boolean settings(int... numbersAndValues) {
    ByteBuffer payload = ByteBuffer.allocate(3 * numbersAndValues.length);
    for (int i = 0; i < numbersAndValues.length; i += 2) {
      payload.putShort((short) numbersAndValues[i]).putInt(numbersAndValues[i + 1]);
    }
    return receive(FrameClient.bytes(FrameClient.SETTINGS, 0, 0, payload.array()));
  }

  @Test
  void anEmptyEndNeedsNoRoom() {
    begin();
    post(1);
    Http2Stream stream = open.getFirst();
    codec.writeHead(stream, 200, List.of(), false);
    codec.writeData(stream, ByteBuffer.allocate(1000), false, false);
    settings(Http2Frame.INITIAL_WINDOW_SIZE, 0); // 1000 less than nothing
    sent();
    assertTrue(codec.writeData(stream, ByteBuffer.allocate(0), false, true));
    FrameClient.Frame end = sent().getFirst();
    assertEquals(FrameClient.DATA, end.type());
    assertEquals(FrameClient.END_STREAM, end.flags());
    assertEquals(0, end.payload().length);
  }

  /** What comes together makes a window as large as all of it says, and then something is sent. */
  @Test
  void windowsThatGrowByteByByteMakeFewFrames() {
    begin();
    settings(Http2Frame.INITIAL_WINDOW_SIZE, 0);
    post(1);
    codec.writeHead(open.getFirst(), 200, List.of(), false);
    codec.writeData(open.getFirst(), ByteBuffer.allocate(60_000), true, true);
    sent();
    int[] rising = new int[2000];
    for (int i = 0; i < rising.length; i += 2) {
      rising[i] = Http2Frame.INITIAL_WINDOW_SIZE;
      rising[i + 1] = i + 1;
    }
    settings(rising);
    List<FrameClient.Frame> frames = sent();
    assertEquals(1, frames.stream().filter(frame -> frame.type() == FrameClient.DATA).count());
    ByteArrayOutputStream grants = new ByteArrayOutputStream();
    for (int i = 0; i < 300; i++) { // as many as one read has room for
      grants.writeBytes(
          FrameClient.bytes(FrameClient.WINDOW_UPDATE, 0, 1, new byte[] {0, 0, 0, 1}));
    }
    receive(grants.toByteArray());
    frames = sent();
    assertEquals(1, frames.size());
    assertEquals(300, frames.getFirst().payload().length);
  }

  /** Some clients reset a stream that they gave up for each frame of it that was under way. */
  @Test
  void resetsOfStreamsThatEndedAreFree() {
    begin();
    int streams = 100;
    for (int i = 0; i < streams; i++) {
      post(2 * i + 1);
      for (int frame = 0; frame < 2 * FrameCount.MAX_FRAMES / streams; frame++) {
        assertTrue(reset(2 * i + 1));
      }
    }
    assertEquals(List.of(), sent());
    for (int i = streams; i < FrameCount.MAX_FRAMES; i++) {
      post(2 * i + 1);
      assertTrue(reset(2 * i + 1));
    }
    post(2 * FrameCount.MAX_FRAMES + 1);
    assertFalse(reset(2 * FrameCount.MAX_FRAMES + 1));
    assertEquals(FrameClient.GO_AWAY, sent().getFirst().type());
  }

  private boolean reset(int stream) {
    return receive(FrameClient.bytes(FrameClient.RESET, 0, stream, new byte[4]));
  }

  @Test
  void whoReadsNoRepliesLosesTheConnection() {
    begin();
    byte[] head =
        FrameClient.bytes(
            FrameClient.HEADERS, WHOLE, 1, FrameClient.block("POST", "/v2", "te", "trailers"));
    boolean goesOn = true;
    for (int i = 0; goesOn && i < 1_000_000; i++) {
      ByteBuffer.wrap(head).putInt(5, 2 * i + 1);
      goesOn = receive(head);
      if (open.size() > 100) {
        Http2Stream stream = open.getFirst();
        codec.writeHead(stream, 200, List.of("x", "y"), true);
        codec.reset(stream, Http2Error.NO_ERROR);
      }
    }
    assertFalse(goesOn);
    List<FrameClient.Frame> all = sent();
    assertEquals(FrameClient.GO_AWAY, all.getLast().type());
    assertEquals(
        Http2Error.ENHANCE_YOUR_CALM.number, ByteBuffer.wrap(all.getLast().payload()).getInt(4));
  }

  /** Frames at random, most of them of a right form: each is taken, or ends what it should. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void framesAtRandomDoNoHarm(long seed) {
    Random random = new Random(seed);
    begin();
    int next = 1;
    for (int i = 0; i < 3000; i++) {
      readsAll = random.nextBoolean();
      int stream = Math.max(0, next - 2 * random.nextInt(6));
      byte[] payload = new byte[random.nextInt(30)];
      random.nextBytes(payload);
      int type = random.nextInt(40) == 0 ? random.nextInt(12) : 0;
      int flags = random.nextInt(8) == 0 ? FrameClient.END_STREAM : 0;
      if (random.nextInt(4) == 0) {
        type = FrameClient.HEADERS;
        stream = next;
        next += 2;
        flags |= FrameClient.END_HEADERS;
        payload = FrameClient.block("POST", "/v2", "x", "a".repeat(random.nextInt(50)));
      }
      boolean goesOn = receive(FrameClient.bytes(type, flags, stream, payload));
      for (Http2Stream one : List.copyOf(open)) {
        if (random.nextInt(4) == 0 && !one.isClosed && !one.outputEnded && one.unsent == null) {
          codec.writeHead(one, 200, List.of("x", "y"), false);
          codec.writeData(one, ByteBuffer.allocate(random.nextInt(30_000)), true, true);
        }
      }
      sent();
      if (!goesOn) {
        codec.close();
        assertTrue(open.isEmpty());
        assertFalse(receive(FrameClient.bytes(FrameClient.PING, 0, 0, new byte[8])));
        return;
      }
    }
  }
}
