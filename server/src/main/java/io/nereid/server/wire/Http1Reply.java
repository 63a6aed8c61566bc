package io.nereid.server.wire;

import io.nereid.server.shared.PieceBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Replies of HTTP/1.1. The head is made in a small buffer and put in front of the body's first
 * piece, so that a short reply is one write; binary data is written from where it lies.
 */
final class Http1Reply implements HttpExchange.ReplyForm {

  private static final ReplyField CHUNKED = ReplyField.of("Transfer-Encoding", "chunked");
  private static final ReplyField CLOSE = ReplyField.of("Connection", "close");
  private static final byte[] LINE_END = ReplyField.ascii("\r\n");
  private static final byte[] CONTINUE = ReplyField.ascii("HTTP/1.1 100 Continue\r\n\r\n");

  /** Room in front of the fields for the status line and the date, which are known last. */
  private static final int FRONT_BYTES = 128;

  private final ClientChannel channel;
  private final byte[] head = new byte[FRONT_BYTES + PieceBuffer.HEAD_ROOM];
  private int from = FRONT_BYTES;
  private int to = FRONT_BYTES;
  private boolean chunks;

  Http1Reply(ClientChannel channel) {
    this.channel = channel;
  }

  @Override
  public void begin() {
    from = FRONT_BYTES;
    to = FRONT_BYTES;
  }

  @Override
  public void field(ReplyField field) {
    put(field.line);
  }

  @Override
  public void field(ReplyField field, String value) {
    put(field.line);
    put(value);
    put(LINE_END);
  }

  @Override
  public void field(ReplyField field, long value) {
    put(field.line);
    number(value);
    put(LINE_END);
  }

  @Override
  public void send(
      Status status,
      PieceBuffer buffer,
      List<MemorySegment> binary,
      boolean close,
      boolean headOnly)
      throws IOException {
    endHead(status, close);
    if (headOnly) {
      write(ByteBuffer.wrap(head, from, to - from));
    } else {
      write(buffer, binary);
    }
    begin();
  }

  private void endHead(Status status, boolean close) {
    if (close) {
      put(CLOSE.line);
    }
    put(LINE_END);
    byte[] line = status.line();
    byte[] date = ReplyField.date().line;
    from = FRONT_BYTES - line.length - date.length;
    System.arraycopy(line, 0, head, from, line.length);
    System.arraycopy(date, 0, head, from + line.length, date.length);
  }

  @Override
  public void beginParts(Status status, boolean chunked, boolean close) {
    chunks = chunked;
    if (chunked) {
      put(CHUNKED.line);
    }
    endHead(status, close); // and goes with the first part
  }

  @Override
  public void sendPart(PieceBuffer buffer) throws IOException {
    if (chunks) {
      put(Long.toHexString(buffer.size()));
      put(LINE_END);
      buffer.write(LINE_END, 0, LINE_END.length);
    }
    write(buffer, List.of());
    begin();
  }

  @Override
  public void endParts(PieceBuffer empty) throws IOException {
    if (chunks) {
      put("0\r\n\r\n");
    }
    if (to > from) {
      write(empty, List.of());
      begin();
    }
  }

  /** Tells a client that waits for it to send its body. */
  void sendContinue() throws IOException {
    write(ByteBuffer.wrap(CONTINUE));
  }

  private void write(PieceBuffer buffer, List<MemorySegment> binary) throws IOException {
    List<ByteBuffer> pieces = buffer.seal(head, from, to - from, binary);
    if (pieces.size() == 1) {
      write(pieces.getFirst());
      return;
    }
    channel.writeAll(pieces.toArray(ByteBuffer[]::new));
  }

  private void write(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private void put(byte[] text) {
    System.arraycopy(text, 0, head, to, text.length);
    to += text.length;
  }

  @SuppressWarnings("deprecation") // drops the upper halves, which are empty: the fastest way
  private void put(String text) {
    text.getBytes(0, text.length(), head, to);
    to += text.length();
  }

  private void number(long value) {
    long rest = value;
    int at = to + 19;
    do {
      head[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    int digits = to + 19 - at;
    System.arraycopy(head, at, head, to, digits);
    to += digits;
  }
}
