package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The server and a client that speaks HTTP/2 by hand check that the other is alive. */
class KeepAliveTest {

  private static final int SETTINGS = 4;
  private static final int PING = 6;
  private static final int GOAWAY = 7;
  private static final int ACK = 1;

  private static GrpcFixture server(GrpcKeepAlive keepAlive) {
    return new GrpcFixture(
        RepositoryOptions.builder().explicit().build(),
        GrpcOptions.DEFAULT.withKeepAlive(keepAlive));
  }

  private static GrpcKeepAlive keepAlive(Duration pingAfter, Duration leastPingInterval) {
    return new GrpcKeepAlive(
        pingAfter,
        Duration.ofMillis(200),
        leastPingInterval,
        true,
        Optional.empty(),
        Optional.empty());
  }

  /** A frame as it came. */
  private record Frame(int type, int flags, byte[] payload) {}

  private static final class Connection implements AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    Connection(GrpcFixture server) throws IOException {
      socket = new Socket("127.0.0.1", server.server().port());
      socket.setSoTimeout((int) GrpcFixture.PATIENCE.toMillis());
      in = new DataInputStream(socket.getInputStream());
      out = new DataOutputStream(socket.getOutputStream());
      out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
      send(SETTINGS, 0, new byte[0]);
    }

    void send(int type, int flags, byte[] payload) throws IOException {
      out.writeByte(payload.length >>> 16);
      out.writeShort(payload.length);
      out.writeByte(type);
      out.writeByte(flags);
      out.writeInt(0); // of the connection
      out.write(payload);
      out.flush();
    }

    /** Null when the server has closed the connection. */
    Frame next() throws IOException {
      try {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        in.readInt();
        return new Frame(type, flags, in.readNBytes(length));
      } catch (EOFException e) {
        return null;
      }
    }

    /** Skips frames of other types; null when none of this one comes. */
    Frame next(int type) throws IOException {
      Frame frame = next();
      while (frame != null && frame.type() != type) {
        frame = next();
      }
      return frame;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Test
  @Tag("slow") // gRPC does not ping before 10 s of silence
  void aClientThatDoesNotAnswerIsGivenUp() throws IOException {
    try (GrpcFixture server = server(keepAlive(Duration.ofMillis(50), Duration.ZERO));
        Connection connection = new Connection(server)) {
      Frame ping = connection.next(PING);
      assertEquals(0, ping.flags() & ACK);
      Frame end = connection.next();
      while (end != null) {
        end = connection.next();
      }
      InferFixture.await(() -> server.server().connectionCount() == 0, "it is still counted");
    }
  }

  @Test
  void aClientThatPingsTooOftenIsSentAway() throws IOException {
    try (GrpcFixture server = server(keepAlive(Duration.ofHours(1), Duration.ofHours(1)));
        Connection connection = new Connection(server)) {
      for (int i = 0; i < 4; i++) {
        connection.send(PING, 0, new byte[8]);
      }
      Frame goodbye = connection.next(GOAWAY);
      String text = new String(goodbye.payload(), StandardCharsets.ISO_8859_1);
      assertTrue(text.endsWith("too_many_pings"), text);
    }
  }

  @Test
  void aClientMayPingAsOftenAsItIsAllowed() throws IOException {
    try (GrpcFixture server = server(keepAlive(Duration.ofHours(1), Duration.ZERO));
        Connection connection = new Connection(server)) {
      for (int i = 0; i < 10; i++) {
        connection.send(PING, 0, new byte[8]);
        assertEquals(ACK, connection.next(PING).flags() & ACK);
      }
    }
  }
}
