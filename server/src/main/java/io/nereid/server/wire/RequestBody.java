package io.nereid.server.wire;

import io.nereid.server.shared.ByteSource;
import io.nereid.server.shared.HeapShare;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The body of one request after the other, read from its start to its end: of a length that is
 * known before, in chunks, or, where the protocol itself has an end of a body, as much as comes.
 * Used by the thread that serves the request.
 */
public final class RequestBody implements ByteSource {

  /** {@link #length} of a body whose end is known when it is there. */
  public static final long UNKNOWN_LENGTH = -1;

  /** What is written when a client waits for leave to send the body. */
  public interface ContinueSender {
    /** On the thread that reads the body. */
    void send() throws IOException;
  }

  /** A thread that reads for others, too, serves no longer body: JSON takes 10 µs a KiB. */
  static final int SHORT_BYTES = 4 << 10;

  /** Longest line before a chunk; extensions are read over. */
  private static final int MAX_CHUNK_LINE = 1024;

  private final ConnectionInput input;
  private final WireLimits limits;
  private final ContinueSender continueSender;

  private HeapShare heap; // null: there is no limit
  private ContentCoding.Inflated inflated; // null: the body is read as it came
  private boolean chunked;
  private boolean untilEnd; // of the input
  private boolean awaitsContinue;
  private boolean ended;
  private long length;
  private long left; // of the body, or of the present chunk
  private long received;
  private int chunks;

  /** Reads the bodies of requests that come from there. */
  public RequestBody(ConnectionInput input, WireLimits limits, ContinueSender continueSender) {
    this.input = input;
    this.limits = limits;
    this.continueSender = continueSender;
  }

  /** The bodies to come end where the input does, unless their length is known before. */
  RequestBody untilEnd() {
    untilEnd = true;
    return this;
  }

  /** Requests take heap memory from there. */
  void heap(HeapShare share) {
    heap = share;
  }

  @Override
  public void takeHeap(long bytes) {
    if (heap != null) {
      heap.take(bytes);
    }
  }

  /** Begins with the body behind a head. */
  public void start(RequestHead fields) {
    chunked = fields.chunked();
    boolean unknown = chunked || (untilEnd && fields.contentLength() == RequestHead.ABSENT);
    length = unknown ? UNKNOWN_LENGTH : Math.max(0, fields.contentLength());
    left = chunked ? 0 : unknown ? limits.bodyBytes() + 1 : length;
    ended = length == 0;
    awaitsContinue = fields.expectsContinue() && !ended;
    received = 0;
    chunks = 0;
    if (length > limits.bodyBytes()) {
      throw tooLarge(length + " bytes");
    }
  }

  /** From here on what is read is decompressed, until {@link #endInflating}. */
  void inflate() {
    inflated = new ContentCoding.Inflated(this, limits.bodyBytes());
  }

  /** Gives back what decompressing needs; what is left is read as it comes. */
  void endInflating() {
    if (inflated != null) {
      inflated.close();
      inflated = null;
    }
  }

  /** All its bytes, those that were read included. */
  public long length() {
    return inflated == null ? length : UNKNOWN_LENGTH;
  }

  /** Whether it may take a while to come, or to be read. */
  boolean isLong() {
    return chunked || length > SHORT_BYTES;
  }

  /** Bytes that came so far. */
  public long received() {
    return received;
  }

  /** Whether the rest may be read over: it will come, and is not known to be more than that. */
  boolean isSkippable(long most) {
    return !awaitsContinue && (length == UNKNOWN_LENGTH || left <= most);
  }

  @Override
  public int read(byte[] to, int offset, int count) throws IOException {
    return inflated == null ? readSent(to, offset, count) : inflated.read(to, offset, count);
  }

  /** As {@link #read(byte[], int, int)}, of the body as it came. */
  int readSent(byte[] to, int offset, int count) throws IOException {
    if (count == 0) {
      return 0;
    }
    if (!hasMore()) {
      return -1;
    }
    return (int) taken(input.read(to, offset, (int) Math.min(count, left)));
  }

  /** Some of the next bytes, at least one, into memory; -1 at the end. */
  private long read(MemorySegment to, long offset, long count) throws IOException {
    if (inflated != null) {
      return inflated.read(to, offset, count);
    }
    if (count == 0) {
      return 0;
    }
    if (!hasMore()) {
      return -1;
    }
    return taken(input.read(to, offset, Math.min(count, left)));
  }

  /** Fills the segment; false when the body ends first. */
  public boolean readFully(MemorySegment to) throws IOException {
    long offset = 0;
    while (offset < to.byteSize()) {
      long count = read(to, offset, to.byteSize() - offset);
      if (count < 0) {
        return false;
      }
      offset += count;
    }
    return true;
  }

  /** Whether the next {@code count} bytes lie in the buffer in one piece. */
  public boolean isBuffered(long count) {
    return length() != UNKNOWN_LENGTH && count <= left && count <= input.available();
  }

  /** Where what {@link #isBuffered} lies, from {@link #bufferStart} on. */
  public byte[] buffer() {
    return input.bytes();
  }

  /** The place in {@link #buffer} of what comes next. */
  public int bufferStart() {
    return input.position();
  }

  /** Takes what {@link #isBuffered}: it stays where it is until something is read. */
  public void takeBuffered(int count) throws ClientGoneException {
    input.skip(count);
    taken(count);
    awaitsContinue = false; // the client did not
  }

  /** Reads over the rest, unless it is more than {@code most}; whether the end was reached. */
  boolean skipRest(long most) throws IOException {
    if (ended) {
      return true;
    }
    if (!isSkippable(most)) {
      return false;
    }
    byte[] rest = new byte[8192];
    long skipped = 0;
    while (skipped <= most) {
      int count = read(rest, 0, rest.length);
      if (count < 0) {
        return true;
      }
      skipped += count;
    }
    return false;
  }

  private long taken(long count) throws ClientGoneException {
    if (count < 0) {
      if (chunked || length != UNKNOWN_LENGTH) {
        throw new ClientGoneException();
      }
      ended = true;
      return -1;
    }
    left -= count;
    received += count;
    if (length == UNKNOWN_LENGTH && received > limits.bodyBytes()) {
      throw tooLarge("more");
    }
    if (left == 0 && !chunked) {
      ended = true;
    }
    return count;
  }

  /** Whether a byte of the body follows; reads what stands between chunks. */
  private boolean hasMore() throws IOException {
    if (ended) {
      return false;
    }
    if (awaitsContinue) {
      awaitsContinue = false;
      if (input.available() == 0) {
        continueSender.send();
      }
    }
    if (left == 0) {
      nextChunk();
    }
    return !ended;
  }

  private void nextChunk() throws IOException {
    if (chunks > 0) {
      lineBreak("a chunk's data");
    }
    left = chunkSize();
    if (left == 0) {
      trailers();
      ended = true;
      return;
    }
    if (++chunks > limits.chunkCount()) {
      throw malformed(
          "Chunked request body exceeds maximum of "
              + limits.chunkCount()
              + " non-empty chunks. Send fewer or larger HTTP chunks.");
    }
    if (left > limits.bodyBytes() - received) {
      throw tooLarge("more, in chunks");
    }
  }

  private long chunkSize() throws IOException {
    long size = 0;
    int digits = 0;
    int c = input.next();
    for (int digit; (digit = hexDigit(c)) >= 0; c = input.next()) {
      if (++digits > 15) {
        throw malformed("expected the size of a chunk, got a number with more than 15 digits");
      }
      size = size << 4 | digit;
    }
    if (digits == 0) {
      throw malformed("expected the size of a chunk in hexadecimal digits");
    }
    int skipped = 0;
    if (c == ';' || c == ' ' || c == '\t') {
      while (c != '\r') {
        if (++skipped > MAX_CHUNK_LINE || (c < ' ' && c != '\t') || c == 0x7f) {
          throw malformed(
              "expected a line with the size of a chunk, got one that is too long or "
                  + "has control characters");
        }
        c = input.next();
      }
    }
    if (c != '\r' || input.next() != '\n') {
      throw malformed("expected a line break behind the size of a chunk");
    }
    return size;
  }

  private static int hexDigit(int c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }

  private void lineBreak(String behind) throws IOException {
    if (input.next() != '\r' || input.next() != '\n') {
      throw malformed("expected a line break behind " + behind);
    }
  }

  /** Fields behind the last chunk: none of them means anything here. */
  private void trailers() throws IOException {
    int bytes = 0;
    int lineLength = 0;
    while (true) {
      int c = input.next();
      if (++bytes > limits.headBytes()) {
        throw HttpFailure.closing(
            Status.HEAD_TOO_LARGE,
            "expected at most " + limits.headBytes() + " bytes of fields behind the last chunk");
      }
      if (c == '\r') {
        if (input.next() != '\n') {
          throw malformed("a line behind the last chunk has a stray carriage return");
        }
        if (lineLength == 0) {
          return;
        }
        lineLength = 0;
      } else if (c == '\n') {
        throw malformed("a line behind the last chunk ends without a carriage return");
      } else {
        lineLength++;
      }
    }
  }

  private HttpFailure tooLarge(String got) {
    return HttpFailure.closing(
        Status.CONTENT_TOO_LARGE,
        "request body exceeds the maximum allowed value: the maximum allowed input size is "
            + limits.bodyBytes()
            + " bytes, got "
            + got
            + ". Use --http-max-input-size to increase the limit.");
  }

  private static HttpFailure malformed(String message) {
    return HttpFailure.closing(Status.BAD_REQUEST, message);
  }
}
