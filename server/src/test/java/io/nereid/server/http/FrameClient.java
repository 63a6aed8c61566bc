package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** A client of HTTP/2, and of gRPC, that sends exactly the frames it is told, right or wrong. */
public final class FrameClient implements AutoCloseable {

  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int PRIORITY = 2;
  public static final int RESET = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GO_AWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int CONTINUATION = 9;

  public static final int ACK = 1;
  public static final int END_STREAM = 1;
  public static final int END_HEADERS = 4;
  public static final int PADDED = 8;

  public static final int REFUSED_STREAM = 7;
  public static final int ENHANCE_YOUR_CALM = 11;

  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  public static final int LARGE_WINDOW = 1 << 30;
  private static final int FRAME_BYTES = 16 << 10;

  private final Socket socket;
  private final DataInputStream in;
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
  private final Map<Integer, Reply> replies = new HashMap<>();

  /** A frame that came. */
  public record Frame(int type, int flags, int stream, byte[] payload) {

    /** The number that its payload begins with. */
    public int number() {
      return ByteBuffer.wrap(payload).getInt();
    }
  }

  /** What came of one stream so far. */
  public static final class Reply {
    public final Map<String, String> fields = new TreeMap<>();
    public final ByteArrayOutputStream body = new ByteArrayOutputStream();
    public boolean complete;
    public int reset = -1;

    public int status() {
      return Integer.parseInt(fields.get(":status"));
    }

    public String text() {
      return body.toString(StandardCharsets.UTF_8);
    }

    public byte[] binary() {
      int from = Integer.parseInt(fields.get("inference-header-content-length"));
      byte[] all = body.toByteArray();
      return Arrays.copyOfRange(all, from, all.length);
    }

    public Reply expect(int wanted) {
      assertEquals(wanted, status(), this::text);
      return this;
    }
  }

  /** A connection on which nothing was said. */
  public FrameClient(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** Takes over a socket, which may be one that encrypts. */
  public FrameClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) TestServer.PATIENCE.toMillis());
    in = new DataInputStream(socket.getInputStream());
  }

  /** Begins, with room for all that may come. */
  public FrameClient begin() throws IOException {
    return begin(LARGE_WINDOW);
  }

  /** Begins, with that much room on each stream. */
  public FrameClient begin(int window) throws IOException {
    sendPreface(window).await(SETTINGS, 0);
    return this;
  }

  /** Begins without having read what the server allows. */
  public FrameClient sendPreface(int window) throws IOException {
    sendText(PREFACE);
    ByteBuffer setting = ByteBuffer.allocate(6).putShort((short) 4).putInt(window);
    frame(SETTINGS, 0, 0, setting.array());
    return grant(0, LARGE_WINDOW);
  }

  public FrameClient sendText(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Frames, or what is none, in one piece. */
  public FrameClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  public FrameClient frame(int type, int flags, int stream, byte[] payload) throws IOException {
    return send(bytes(type, flags, stream, payload));
  }

  public static byte[] bytes(int type, int flags, int stream, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
    frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
    frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    return frame.array();
  }

  public FrameClient grant(int stream, int bytes) throws IOException {
    return frame(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
  }

  public FrameClient reset(int stream) throws IOException {
    return frame(RESET, 0, stream, ByteBuffer.allocate(4).putInt(8).array());
  }

  /** Begins a stream; fields are names and values in turns. */
  public FrameClient head(int stream, boolean last, String method, String path, String... fields)
      throws IOException {
    byte[] block = block(method, path, fields);
    int first = Math.min(FRAME_BYTES, block.length);
    int flags = (last ? END_STREAM : 0) | (first == block.length ? END_HEADERS : 0);
    frame(HEADERS, flags, stream, Arrays.copyOf(block, first));
    if (first < block.length) {
      byte[] rest = Arrays.copyOfRange(block, first, block.length);
      frame(CONTINUATION, END_HEADERS, stream, rest);
    }
    return this;
  }

  public static byte[] block(String method, String path, String... fields) {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    literal(block, ":method", method);
    literal(block, ":scheme", "http");
    literal(block, ":path", path);
    literal(block, ":authority", "test");
    for (int i = 0; i < fields.length; i += 2) {
      literal(block, fields[i], fields[i + 1]);
    }
    return block.toByteArray();
  }

  private static void literal(ByteArrayOutputStream block, String name, String value) {
    block.write(0);
    for (String text : new String[] {name, value}) {
      int length = text.length();
      if (length < 127) {
        block.write(length);
      } else {
        block.write(127);
        for (length -= 127; length >= 128; length >>= 7) {
          block.write(length & 127 | 128);
        }
        block.write(length);
      }
      block.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }
  }

  public FrameClient data(int stream, byte[] bytes, boolean last) throws IOException {
    return send(dataFrames(stream, bytes, last));
  }

  public static byte[] dataFrames(int stream, byte[] bytes, boolean last) {
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    int from = 0;
    do {
      int count = Math.min(FRAME_BYTES, bytes.length - from);
      int flags = last && from + count == bytes.length ? END_STREAM : 0;
      frames.writeBytes(bytes(DATA, flags, stream, Arrays.copyOfRange(bytes, from, from + count)));
      from += count;
    } while (from < bytes.length);
    return frames.toByteArray();
  }

  public FrameClient post(int stream, String path, String body, String... fields)
      throws IOException {
    head(stream, false, "POST", path, fields);
    return data(stream, body.getBytes(StandardCharsets.UTF_8), true);
  }

  public Reply get(int stream, String path, String... fields) throws IOException {
    return head(stream, true, "GET", path, fields).await(stream);
  }

  /** The next frame, after having learned from it what belongs to a reply. */
  public Frame next() throws IOException {
    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
    int type = in.readUnsignedByte();
    int flags = in.readUnsignedByte();
    int stream = in.readInt();
    Frame frame = new Frame(type, flags, stream, in.readNBytes(length));
    Reply reply = reply(stream);
    switch (type) {
      case HEADERS -> learn(stream, reply, frame.payload());
      case DATA -> reply.body.writeBytes(frame.payload());
      case RESET -> reply.reset = frame.number();
      case SETTINGS -> {
        if (flags == 0) {
          frame(SETTINGS, 1, 0, new byte[0]);
        }
      }
      default -> {}
    }
    if (type == HEADERS || type == DATA) {
      reply.complete = (flags & END_STREAM) != 0;
    }
    return frame;
  }

  private void learn(int stream, Reply reply, byte[] block) throws IOException {
    try {
      Http2Headers headers = decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(block));
      headers.forEach(
          field -> reply.fields.put(field.getKey().toString(), field.getValue().toString()));
    } catch (Http2Exception e) {
      throw new IOException(e);
    }
  }

  public Reply reply(int stream) {
    return replies.computeIfAbsent(stream, unused -> new Reply());
  }

  /** The whole reply of a stream. */
  public Reply await(int stream) throws IOException {
    Reply reply = reply(stream);
    while (!reply.complete) {
      if (reply.reset >= 0) {
        throw new IOException("stream " + stream + " was reset: " + reply.reset);
      }
      next();
    }
    return reply;
  }

  /** How the server ended a stream. */
  public int awaitReset(int stream) throws IOException {
    while (reply(stream).reset < 0) {
      next();
    }
    return reply(stream).reset;
  }

  /** Reads over everything else. */
  public Frame await(int type, int flags) throws IOException {
    Frame frame = next();
    while (frame.type() != type || (frame.flags() & flags) != flags) {
      frame = next();
    }
    return frame;
  }

  /** Why the server ends the connection. */
  public int awaitGoAway() throws IOException {
    return ByteBuffer.wrap(await(GO_AWAY, 0).payload()).getInt(4);
  }

  /** Sends what ends the connection, a short ping, and more behind it than sockets hold. */
  public FrameClient sendMistakeAndMore() throws IOException {
    byte[] mistake = bytes(PING, 0, 0, new byte[Long.BYTES - 1]);
    return send(Arrays.copyOf(mistake, 32 << 20));
  }

  public boolean isClosedByServer() throws IOException {
    try {
      while (true) {
        next();
      }
    } catch (EOFException e) {
      return true;
    }
  }

  public void hangUp() throws IOException {
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
