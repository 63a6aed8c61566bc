package io.nereid.perf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads one reply after another out of the bytes of a connection, however they are cut. Heads are
 * read strictly; bodies are counted, and kept only when somebody looks at them.
 */
final class HttpReply {

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
  private HttpReplyHead head;
  private HttpReplyHead lastHead;
  private long remaining;

  HttpReply(boolean keepBodies) {
    this.keepBodies = keepBodies;
  }

  /** Before the next reply. */
  void reset() {
    state = State.HEAD;
    count = 0;
    if (body.size() > 0) {
      body.reset();
    }
  }

  /** Takes bytes, all of them unless the reply ends before; true: it has ended. */
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

  /** The connection has ended; true: so has the reply, as it should. */
  boolean end() {
    return state == State.TO_THE_END;
  }

  HttpReplyHead head() {
    return head;
  }

  /** What was kept of the body. */
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
    // Replies to one request have much the same heads: an equal one need not be read again.
    if (lastHead != null && Arrays.equals(bytes, 0, count, lastBytes, 0, lastBytes.length)) {
      head = lastHead;
    } else {
      head = HttpReplyHead.parse(bytes, count);
      lastHead = head;
      lastBytes = Arrays.copyOf(bytes, count);
    }
    count = 0;
    if (head.isInterim()) {
      return; // the reply proper follows
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

  /** A line up to CR LF; null: it is not complete. */
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
}
