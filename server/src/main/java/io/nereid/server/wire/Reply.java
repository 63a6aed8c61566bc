package io.nereid.server.wire;

import io.nereid.server.shared.PieceBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/**
 * Sends one reply after the other: fields first, then all of it at once or in parts. Each version
 * of HTTP has its own form of the head. Used by the thread that serves the request.
 */
abstract class Reply {

  static final ReplyField LENGTH = ReplyField.of("Content-Length");

  /** What follows a 503: when trying again makes sense. */
  static final ReplyField RETRY_AFTER = ReplyField.of("Retry-After", "1");

  /** Largest piece of a segment in one buffer, whose size is an int. */
  private static final long PIECE_BYTES = 1L << 30;

  private static volatile Date date = new Date(0, ReplyField.of("Date", ""));

  private record Date(long second, ReplyField field) {}

  private ConnectionGuard guard;
  private Status status = Status.OK;
  private long bodyBytes;
  private boolean begun;

  /** Replies are looked after by that guard from now on. */
  final void guard(ConnectionGuard another) {
    guard = another;
  }

  /** A new reply is to be made. */
  void begin() {
    begun = false;
  }

  /** Adds a field that always has the same value. */
  abstract void field(ReplyField field);

  /** Adds a field. */
  abstract void field(ReplyField field, String value);

  /** Adds a field. */
  abstract void field(ReplyField field, long value);

  /**
   * Sends a reply, whose body begins with what is in the buffer.
   *
   * @param close whether the connection ends with it
   * @param headOnly as HEAD asks for it
   */
  final void send(
      Status answer,
      PieceBuffer buffer,
      List<MemorySegment> binary,
      boolean close,
      boolean headOnly)
      throws IOException {
    status = answer;
    bodyBytes = buffer.size() + byteSize(binary);
    begun = true;
    guard.writing();
    sendAll(buffer, binary, close, headOnly);
  }

  static long byteSize(List<MemorySegment> binary) {
    long bytes = 0;
    for (int i = 0; i < binary.size(); i++) {
      bytes += binary.get(i).byteSize();
    }
    return bytes;
  }

  /** Writes head and body, whose length is {@link #bodyBytes}. */
  abstract void sendAll(
      PieceBuffer buffer, List<MemorySegment> binary, boolean close, boolean headOnly)
      throws IOException;

  /**
   * Begins a reply in parts, with the first of them or before it.
   *
   * @param chunked whether parts of HTTP/1.1 say how long they are; else the connection's end does
   */
  final void beginParts(Status status, boolean chunked, boolean close) throws IOException {
    this.status = status;
    bodyBytes = 0;
    begun = true;
    guard.writing();
    sendHead(chunked, close);
  }

  /** The head of a reply in parts. */
  abstract void sendHead(boolean chunked, boolean close) throws IOException;

  /** Sends what is in the buffer as a part. */
  final void sendPart(PieceBuffer buffer) throws IOException {
    bodyBytes += buffer.size();
    guard.writing();
    sendOne(buffer);
  }

  abstract void sendOne(PieceBuffer buffer) throws IOException;

  /** No parts follow; the buffer is empty. */
  abstract void endParts(PieceBuffer empty) throws IOException;

  /** The status of the reply that has begun. */
  final Status status() {
    return status;
  }

  /** Bytes of its body. */
  final long bodyBytes() {
    return bodyBytes;
  }

  /** Whether something of the reply may have been sent. */
  final boolean hasBegun() {
    return begun;
  }

  /** Adds views of binary data to what is to be written. */
  static void addAll(List<MemorySegment> binary, List<ByteBuffer> pieces) {
    for (MemorySegment segment : binary) {
      for (long at = 0; at < segment.byteSize(); at += PIECE_BYTES) {
        long size = Math.min(PIECE_BYTES, segment.byteSize() - at);
        pieces.add(segment.asSlice(at, size).asByteBuffer());
      }
    }
  }

  /** Formatted once in a second. */
  static ReplyField date() {
    long second = System.currentTimeMillis() / 1000;
    Date known = date;
    if (known.second != second) {
      String text =
          DateTimeFormatter.RFC_1123_DATE_TIME.format(
              Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC));
      // The format leaves the zero off the day of the month, which HTTP wants.
      String padded = text.charAt(6) == ' ' ? text.substring(0, 5) + "0" + text.substring(5) : text;
      known = new Date(second, ReplyField.of("Date", padded));
      date = known;
    }
    return known.field;
  }
}
