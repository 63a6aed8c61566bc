package io.nereid.server.http.seam;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import io.helidon.http.DateTime;
import io.helidon.http.Header;
import io.helidon.http.Status;
import io.nereid.server.shared.PieceBuffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Writes Helidon's output to a client. The body of a reply can be given beforehand: it is then
 * written together with Helidon's next head, without a copy. The thread that serves the connection
 * uses it.
 */
public final class ClientWriter implements DataWriter {

  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final ClientReader reader;
  private byte[] head = new byte[PieceBuffer.HEAD_ROOM];
  private BufferData reply; // a head that Nereid writes; null: none so far
  private PieceBuffer body; // null: no body goes behind the next head
  private List<MemorySegment> binary = List.of();

  ClientWriter(ClientChannel channel, ConnectionGuard guard, ClientReader reader) {
    this.channel = channel;
    this.guard = guard;
    this.reader = reader;
  }

  /** Sets the body to write behind the next head. */
  public void behind(PieceBuffer buffer, List<MemorySegment> segments) {
    body = buffer;
    binary = segments;
  }

  @Override
  public void write(BufferData... buffers) {
    writeNow(BufferData.create(buffers));
  }

  @Override
  public void write(BufferData buffer) {
    writeNow(buffer);
  }

  @Override
  public void writeNow(BufferData... buffers) {
    writeNow(BufferData.create(buffers));
  }

  @Override
  public void writeNow(BufferData buffer) {
    guard.writing();
    try {
      if (body != null && buffer.available() <= PieceBuffer.HEAD_ROOM) {
        int count = buffer.read(head, 0, buffer.available());
        writeBody(head, count);
        return;
      }
      while (!buffer.consumed()) {
        int count = buffer.read(head, 0, head.length);
        write(ByteBuffer.wrap(head, 0, count));
        if (count == head.length && head.length < PieceBuffer.HEAD_ROOM << 4) {
          head = new byte[PieceBuffer.HEAD_ROOM << 4]; // long texts go in large steps
        }
      }
      if (body != null) {
        writeBody(head, 0);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void writeBody(byte[] front, int count) throws IOException {
    List<ByteBuffer> pieces = body.seal(front, 0, count, binary);
    body = null;
    binary = List.of();
    if (pieces.size() == 1) {
      write(pieces.getFirst());
    } else {
      write(pieces.toArray(ByteBuffer[]::new));
    }
  }

  private void write(ByteBuffer from) throws IOException {
    while (from.hasRemaining()) {
      if (channel.write(from) == 0) {
        reader.stepAside(); // the client does not read, so writing will wait
      }
    }
  }

  private void write(ByteBuffer[] from) throws IOException {
    for (int i = 0; i < from.length; ) {
      if (!from[i].hasRemaining()) {
        i++;
      } else if (channel.write(from, i, from.length - i) == 0) {
        reader.stepAside();
      }
    }
  }

  /** Writes the head of a reply to a request that Helidon does not see. */
  public void reply(Status status, List<Header> fields) {
    if (reply == null) {
      reply = BufferData.growing(PieceBuffer.HEAD_ROOM / 2);
    }
    reply.reset();
    reply.writeAscii("HTTP/1.1 " + status.code() + " " + status.reasonPhrase() + "\r\nDate: ");
    reply.write(DateTime.http1Bytes());
    for (int i = 0; i < fields.size(); i++) {
      fields.get(i).writeHttp1Header(reply);
    }
    reply.writeAscii("\r\n");
    writeNow(reply);
  }
}
