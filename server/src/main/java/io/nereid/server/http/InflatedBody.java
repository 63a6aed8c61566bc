package io.nereid.server.http;

import io.nereid.server.shared.GzipInput;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/** A body that was sent compressed. Its decompressed size is limited like that of any other. */
final class InflatedBody implements RequestBody, AutoCloseable {

  private static final int GZIP_MAGIC = 0x1f;
  private static final int PIECE_BYTES = 16 << 10;

  private final RequestBody compressed;
  private final InputStream wire;
  private final long mostBytes;
  private final byte[] piece = new byte[PIECE_BYTES];
  private InputStream inflated; // from the first read on
  private long received;

  InflatedBody(RequestBody compressed, long mostBytes) {
    this.compressed = compressed;
    wire = compressed.stream(Long.MAX_VALUE);
    this.mostBytes = mostBytes;
  }

  @Override
  public long length() {
    return UNKNOWN_LENGTH;
  }

  @Override
  public void takeHeap(long bytes) {
    compressed.takeHeap(bytes);
  }

  @Override
  public int read(byte[] to, int offset, int count) throws IOException {
    int taken;
    try {
      if (inflated == null) {
        inflated = open();
      }
      taken = inflated.read(to, offset, count);
    } catch (ZipException e) {
      throw undecodable(e.getMessage());
    } catch (EOFException e) {
      throw undecodable("it ends too early");
    }
    received += Math.max(0, taken);
    if (received > mostBytes) {
      throw HttpFailure.closing(
          Status.CONTENT_TOO_LARGE,
          "decompressed request body exceeds the maximum allowed value: the maximum allowed input"
              + " size is "
              + mostBytes
              + " bytes. Use --http-max-input-size to increase the limit.");
    }
    return taken;
  }

  @Override
  public long read(MemorySegment to, long offset, long count) throws IOException {
    int taken = read(piece, 0, (int) Math.min(count, piece.length));
    if (taken > 0) {
      MemorySegment.copy(piece, 0, to, ValueLayout.JAVA_BYTE, offset, taken);
    }
    return taken;
  }

  /** Goes by what the body starts with: clients confuse the two. */
  private InputStream open() throws IOException {
    PushbackInputStream start = new PushbackInputStream(wire, 1);
    int first = start.read();
    if (first < 0) {
      throw new EOFException();
    }
    start.unread(first);
    return first == GZIP_MAGIC ? new GzipInput(start) : new InflaterInputStream(start);
  }

  private static HttpFailure undecodable(String why) {
    return HttpFailure.badRequest("the request body does not decompress: " + why);
  }

  /** Gives back what decompressing needs. */
  @Override
  public void close() {
    if (inflated != null) {
      try {
        inflated.close();
      } catch (IOException e) {
        // The stream below has nothing to close.
      }
    }
  }
}
