package io.nereid.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import io.nereid.server.http.seam.ClientGoneException;
import io.nereid.server.http.seam.ClientReader;
import io.nereid.server.shared.ByteSource;
import io.nereid.server.shared.HeapShare;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The body of one request after the other of a connection, read from its start to its end. Helidon
 * decodes chunks; tensors of a body with a known length go from the socket to their memory,
 * bypassing Helidon. Used by the thread that serves the request.
 */
final class RequestBody implements ByteSource {

  /** The {@link #length} of a body of unknown length. */
  static final long UNKNOWN_LENGTH = -1;

  /** The longest text that is put into one piece, for comparing it with the last one. */
  static final int MOST_TEXT_BYTES = 4 << 10;

  private static final int PIECE_BYTES = 8 << 10;
  private static final byte[] UNREAD = new byte[64 << 10]; // for skipped bytes

  private final HeapShare heap;
  private final ClientReader reader;
  private final long mostBytes;
  private final int mostChunks;
  private byte[] piece; // null: not needed so far
  private byte[] text = {};
  private int textAt;

  // The present request.
  private ServerRequest request;
  private InputStream stream; // Helidon's stream; null: not used yet
  private ContentCoding.Inflated inflated; // null: the body is read as it came
  private byte[] given; // contains the body; null: it comes from Helidon and the socket
  private int givenAt; // index of the next byte in {@code given}
  private long length;
  private long received;
  private long past; // bypassing bytes that Helidon's stream has still to skip
  private long suppliedBefore;
  private int chunks;
  private boolean ended;
  private boolean broken; // the body's end is unknown

  /** Makes the body of a reader's requests, which take heap memory from a share. */
  RequestBody(ClientReader reader, HeapShare heap, HttpLimits limits) {
    this.reader = reader;
    this.heap = heap;
    mostBytes = limits.bodyBytes();
    mostChunks = limits.chunkCount();
  }

  /** Begins with the body of a request, of which nothing was read. */
  void start(ServerRequest asked) {
    request = asked;
    given = null;
    stream = null;
    boolean chunked = asked.headers().contains(HeaderNames.TRANSFER_ENCODING);
    length = chunked ? UNKNOWN_LENGTH : asked.headers().contentLength().orElse(0);
    received = 0;
    chunks = 0;
    broken = false;
    past = 0;
    suppliedBefore = reader.supplied() - reader.available();
    ended = length == 0;
  }

  /** Begins with a body that has come already, and lies in front of {@code from + count}. */
  void startGiven(byte[] bytes, int from, int count) {
    request = null;
    stream = null;
    given = bytes;
    givenAt = from;
    length = count;
    received = 0;
    past = 0;
    ended = length == 0;
  }

  /** Throws if the body is known to be too long. */
  void checkLength() {
    if (length > mostBytes) {
      throw tooLarge(length + " bytes");
    }
  }

  @Override
  public void takeHeap(long bytes) {
    heap.take(bytes);
  }

  /** Decompresses the body from now on, until {@link #endInflating}. */
  void inflate() {
    inflated = new ContentCoding.Inflated(this::readSent, mostBytes);
  }

  /** Frees the decompressor; the rest of the body is read as it comes. */
  void endInflating() {
    if (inflated != null) {
      inflated.close();
      inflated = null;
    }
  }

  /** The length of the body. */
  long length() {
    return inflated == null ? length : UNKNOWN_LENGTH;
  }

  /** True if the rest of the body is here, in memory. */
  boolean hasCome() {
    return ended
        || given != null
        || (length != UNKNOWN_LENGTH && reader.supplied() - suppliedBefore >= length);
  }

  /** The bytes that came so far. */
  long received() {
    return received;
  }

  // ---- Reading ---------------------------------------------------------------------------------

  @Override
  public int read(byte[] to, int offset, int count) throws IOException {
    if (inflated == null) {
      return readSent(to, offset, count);
    }
    pause();
    return inflated.read(to, offset, count);
  }

  @Override
  public void pause() {
    reader.breathe();
  }

  /** Reads the body as it came, where {@link #read(byte[], int, int)} decompresses it. */
  private int readSent(byte[] to, int offset, int count) throws IOException {
    if (count == 0 || ended) {
      return count == 0 ? 0 : -1;
    }
    if (given != null) {
      int taken = (int) Math.min(count, length - received);
      System.arraycopy(given, givenAt, to, offset, taken);
      takeGiven(taken);
      return taken;
    }
    pause();
    skipPast();
    int taken = fromHelidon(to, offset, count);
    if (taken < 0) {
      ended = true;
      return -1;
    }
    take(taken);
    // a chunk has ended here
    if (length == UNKNOWN_LENGTH && taken < count && ++chunks > mostChunks) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST,
          "Chunked request body exceeds maximum of "
              + mostChunks
              + " non-empty chunks. Send fewer or larger HTTP chunks.");
    }
    return taken;
  }

  private void takeGiven(int count) {
    givenAt += count;
    take(count);
  }

  private int fromHelidon(byte[] to, int offset, int count) throws IOException {
    try {
      return stream().read(to, offset, count);
    } catch (DataReader.IncorrectNewLineException | IllegalArgumentException e) {
      broken = true;
      throw noChunk();
    } catch (RequestException e) {
      broken = true;
      throw switch (e.status().code()) {
        case 400 -> noChunk();
        case 413 -> tooLarge("more, in chunks");
        default -> e;
      };
    }
  }

  private static HttpFailure noChunk() {
    return HttpFailure.closing(
        Status.BAD_REQUEST,
        "expected the size of a chunk in hexadecimal digits, a line break, as many bytes and a line"
            + " break, got something else");
  }

  /** Helidon's stream; using it tells a client that waits for 100-continue to send. */
  private InputStream stream() {
    if (stream == null) {
      stream = request.content().inputStream();
    }
    return stream;
  }

  private void take(long count) {
    received += count;
    if (received > mostBytes) {
      throw tooLarge("more");
    }
    if (received == length) {
      ended = true;
    }
  }

  /** Fills the segment; false when the body ends first. */
  boolean readFully(MemorySegment to) throws IOException {
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

  /** Reads some of the next bytes, at least one, into memory; -1 at the end. */
  private long read(MemorySegment to, long offset, long count) throws IOException {
    if (given != null && inflated == null && !ended) {
      int taken = (int) Math.min(count, length - received);
      MemorySegment.copy(given, givenAt, to, ValueLayout.JAVA_BYTE, offset, taken);
      takeGiven(taken);
      return taken;
    }
    if (!ended && isDirect()) {
      stream();
      long taken = reader.readPast(to, offset, Math.min(count, length - received));
      past += taken;
      take(taken);
      return taken;
    }
    if (piece == null) {
      piece = new byte[PIECE_BYTES];
    }
    int taken = read(piece, 0, (int) Math.min(count, piece.length));
    if (taken > 0) {
      MemorySegment.copy(piece, 0, to, ValueLayout.JAVA_BYTE, offset, taken);
    }
    return taken;
  }

  /** True if the next byte is still in the socket and not compressed. */
  private boolean isDirect() {
    return inflated == null
        && given == null
        && length != UNKNOWN_LENGTH
        && Math.min(length, reader.supplied() - suppliedBefore) <= received;
  }

  /** Makes Helidon's stream skip the bytes that bypassed it. */
  private void skipPast() throws IOException {
    while (past > 0) {
      past -= stream.read(UNREAD, 0, (int) Math.min(past, UNREAD.length));
    }
  }

  // ---- Text ------------------------------------------------------------------------------------

  /** Takes the next bytes, in one piece; they stay valid until the next text is taken. */
  byte[] takeText(int count) throws IOException {
    if (given != null && inflated == null && count <= length - received) {
      textAt = givenAt;
      takeGiven(count);
      return given;
    }
    textAt = 0;
    if (text.length < count) {
      text = new byte[Math.max(count, 2 * text.length)];
    }
    int taken = 0;
    while (taken < count) {
      int read = read(text, taken, count - taken);
      if (read < 0) {
        throw new ClientGoneException();
      }
      taken += read;
    }
    return text;
  }

  /** The index in {@link #takeText} at which the text begins. */
  int textAt() {
    return textAt;
  }

  // ---- Its end ---------------------------------------------------------------------------------

  /** True if the rest can be skipped: it will come, and is at most {@code most} bytes. */
  boolean isSkippable(long most) {
    boolean awaitsLeave =
        given == null && stream == null && request.headers().containsToken(HeaderValues.EXPECT_100);
    return ended
        || (!broken && length != UNKNOWN_LENGTH && !awaitsLeave && length - received <= most);
  }

  /** Skips the end of a chunked body, if that has come already. */
  void skipCome(long most) throws IOException {
    long skipped = 0;
    while (length == UNKNOWN_LENGTH
        && !broken
        && stream != null
        && !ended
        && skipped <= most
        && reader.available() > 0) {
      try {
        skipped += Math.max(0, readSent(UNREAD, 0, UNREAD.length));
      } catch (HttpFailure | RequestException | CloseConnectionException e) {
        broken = true; // the connection ends after the reply
      }
    }
  }

  /** Called when the reply is sent: lets Helidon see the end of a body that was read. */
  void finish() throws IOException {
    if (stream != null && ended) {
      skipPast();
      stream.read(UNREAD, 0, 1);
    }
  }

  private HttpFailure tooLarge(String got) {
    return HttpFailure.closing(
        Status.CONTENT_TOO_LARGE,
        ("request body exceeds the maximum allowed value: the maximum allowed input size is "
                + "%s bytes, got %s. Use --http-max-input-size to increase the limit.")
            .formatted(mostBytes, got));
  }
}
