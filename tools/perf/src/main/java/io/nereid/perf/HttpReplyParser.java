package io.nereid.perf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads one reply after another out of the bytes of a connection, however they are cut. Heads are
 * read strictly; bodies are counted, and kept only for checks. For one thread at a time.
 */
final class HttpReplyParser {

  private static final int MOST_HEAD_BYTES = 64 << 10;
  private static final int MOST_ERROR_BYTES = 8 << 10;
  private static final int MOST_LINE_BYTES = 256;

  private enum State {
    HEAD,
    BODY,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILERS,
    TO_THE_END,
    DONE
  }

  private final boolean keepBodies;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private State state = State.HEAD;
  private byte[] bytes = new byte[512];
  private int count;
  private byte[] lastBytes = {};
  private Head head;
  private Head lastHead;
  private long remaining;

  HttpReplyParser(boolean keepBodies) {
    this.keepBodies = keepBodies;
  }

  /** Prepares for the next reply. */
  void reset() {
    state = State.HEAD;
    count = 0;
    if (body.size() > 0) {
      body.reset();
    }
  }

  /** Takes bytes up to the reply's end; true: the reply has ended. */
  boolean take(ByteBuffer in) throws IOException {
    while (in.hasRemaining() && state != State.DONE) {
      switch (state) {
        case HEAD -> takeHead(in);
        case BODY -> takeBody(in, State.DONE);
        case CHUNK_SIZE -> takeChunkSize(in);
        case CHUNK -> takeBody(in, State.CHUNK_END);
        case CHUNK_END -> takeChunkEnd(in);
        case TRAILERS -> takeTrailer(in);
        case TO_THE_END -> keep(in, in.remaining());
        case DONE -> throw new IllegalStateException("the loop ends before");
      }
    }
    return state == State.DONE;
  }

  /** Called when the connection has ended; true: the reply properly ends there. */
  boolean end() {
    return state == State.TO_THE_END;
  }

  Head head() {
    return head;
  }

  /** Returns the part of the body that was kept. */
  byte[] body() {
    return body.toByteArray();
  }

  private void takeHead(ByteBuffer in) throws IOException {
    while (in.hasRemaining()) {
      if (count == bytes.length) {
        if (count >= MOST_HEAD_BYTES) {
          throw new IOException("the head of a reply has more than " + MOST_HEAD_BYTES + " bytes");
        }
        bytes = Arrays.copyOf(bytes, 2 * count);
      }
      byte next = in.get();
      bytes[count++] = next;
      if (next == '\n' && endsHead()) {
        beginBody();
        return;
      }
    }
  }

  private boolean endsHead() {
    return count >= 4
        && bytes[count - 2] == '\r'
        && bytes[count - 3] == '\n'
        && bytes[count - 4] == '\r';
  }

  private void beginBody() throws IOException {
    // Heads often repeat, and an equal one need not be parsed again.
    if (lastHead != null && Arrays.equals(bytes, 0, count, lastBytes, 0, lastBytes.length)) {
      head = lastHead;
    } else {
      head = Head.parse(bytes, count);
      lastHead = head;
      lastBytes = Arrays.copyOf(bytes, count);
    }
    count = 0;
    if (head.isInterim()) {
      return; // an interim reply: the final one follows
    }
    remaining = head.contentLength();
    if (head.hasNoBody() || remaining == 0) {
      state = State.DONE;
    } else if (head.chunked()) {
      state = State.CHUNK_SIZE;
    } else {
      state = remaining > 0 ? State.BODY : State.TO_THE_END;
    }
  }

  private void takeBody(ByteBuffer in, State next) {
    int part = (int) Math.min(remaining, in.remaining());
    keep(in, part);
    remaining -= part;
    if (remaining == 0) {
      state = next;
    }
  }

  private void keep(ByteBuffer in, int part) {
    boolean wanted = keepBodies || head.status() != 200 && body.size() < MOST_ERROR_BYTES;
    if (wanted) {
      byte[] kept = new byte[part];
      in.get(kept);
      body.writeBytes(kept);
    } else {
      in.position(in.position() + part);
    }
  }

  /** Returns a line without CR LF; null: it is incomplete. */
  private String line(ByteBuffer in) throws IOException {
    while (in.hasRemaining()) {
      byte next = in.get();
      bytes[count++] = next;
      if (next == '\n') {
        if (count < 2 || bytes[count - 2] != '\r') {
          throw new IOException("a line of a chunked reply does not end in CR LF");
        }
        String line = new String(bytes, 0, count - 2, StandardCharsets.ISO_8859_1);
        count = 0;
        return line;
      }
      if (count >= MOST_LINE_BYTES) {
        throw new IOException("a line of a chunked reply has more than 256 bytes");
      }
    }
    return null;
  }

  private void takeChunkSize(ByteBuffer in) throws IOException {
    String line = line(in);
    if (line == null) {
      return;
    }
    String size = line.split(";", 2)[0].strip();
    if (!size.matches("[0-9a-fA-F]{1,15}")) {
      throw new IOException("expected the size of a chunk, got '" + line + "'");
    }
    remaining = Long.parseLong(size, 16);
    state = remaining == 0 ? State.TRAILERS : State.CHUNK;
  }

  private void takeChunkEnd(ByteBuffer in) throws IOException {
    String line = line(in);
    if (line == null) {
      return;
    }
    if (!line.isEmpty()) {
      throw new IOException("expected the end of a chunk, got '" + line + "'");
    }
    state = State.CHUNK_SIZE;
  }

  private void takeTrailer(ByteBuffer in) throws IOException {
    String line = line(in);
    if (line != null && line.isEmpty()) {
      state = State.DONE;
    }
  }

  /**
   * The fields of a reply's head that the sender needs.
   *
   * @param status of the reply
   * @param contentLength -1: not given
   * @param chunked whether the body comes in chunks
   * @param keepAlive whether the connection stays
   * @param jsonLength the length of the JSON in front of binary tensors; -1: the whole body is JSON
   */
  record Head(int status, long contentLength, boolean chunked, boolean keepAlive, int jsonLength) {

    /** Parses a head strictly: refuses ambiguous ones. */
    static Head parse(byte[] bytes, int count) throws IOException {
      String text = new String(bytes, 0, count, StandardCharsets.ISO_8859_1);
      String[] lines = text.substring(0, text.length() - 4).split("\r\n", -1);
      String first = lines[0];
      if (!first.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
        throw new IOException("expected the status line of HTTP/1.1, got '" + shown(first) + "'");
      }
      int status = Integer.parseInt(first, 9, 12, 10);
      boolean keepAlive = first.startsWith("HTTP/1.1");
      boolean chunked = false;
      long contentLength = -1;
      int jsonLength = -1;
      for (int i = 1; i < lines.length; i++) {
        int colon = lines[i].indexOf(':');
        if (colon < 1 || !lines[i].substring(0, colon).matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
          throw new IOException("expected a field of HTTP/1.1, got '" + shown(lines[i]) + "'");
        }
        String value = lines[i].substring(colon + 1).strip();
        switch (lines[i].substring(0, colon).toLowerCase(Locale.ROOT)) {
          case "content-length" -> {
            long length = number(value);
            if (contentLength >= 0 && contentLength != length) {
              throw new IOException("a reply has two lengths: " + contentLength + " and " + length);
            }
            contentLength = length;
          }
          case "transfer-encoding" -> {
            if (!value.equalsIgnoreCase("chunked") || chunked) {
              throw new IOException("expected the transfer coding chunked, got '" + value + "'");
            }
            chunked = true;
          }
          case "connection" -> keepAlive = keepAlive(value, keepAlive);
          case "inference-header-content-length" -> jsonLength = (int) number(value);
          default -> {}
        }
      }
      if (chunked && contentLength >= 0) {
        throw new IOException("a reply has both a length and chunks");
      }
      return new Head(status, contentLength, chunked, keepAlive, jsonLength);
    }

    private static boolean keepAlive(String value, boolean otherwise) {
      String options = "," + value.toLowerCase(Locale.ROOT).replace(" ", "") + ",";
      if (options.contains(",close,")) {
        return false;
      }
      return otherwise || options.contains(",keep-alive,");
    }

    private static long number(String value) throws IOException {
      if (!value.matches("[0-9]{1,15}")) {
        throw new IOException("expected a length in a reply, got '" + shown(value) + "'");
      }
      return Long.parseLong(value);
    }

    private static String shown(String text) {
      return text.substring(0, Math.min(80, text.length())).replaceAll("\\p{Cntrl}", "?");
    }

    boolean isInterim() {
      return status < 200;
    }

    boolean hasNoBody() {
      return status == 204 || status == 304;
    }
  }
}
