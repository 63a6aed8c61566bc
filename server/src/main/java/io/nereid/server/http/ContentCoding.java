package io.nereid.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderValues;
import io.nereid.server.shared.ByteSource;
import io.nereid.server.shared.GzipInput;
import io.nereid.server.shared.PieceBuffer;
import java.io.EOFException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/** The content codings of requests and replies, with their decoders and encoders. */
enum ContentCoding {
  NONE("identity"),
  GZIP("gzip"),
  /** RFC 1950: with a header, unlike raw deflate. */
  DEFLATE("deflate");

  private static final int GZIP_MAGIC = 0x1f;

  /** Bytes that are copied at a time. */
  private static final int PIECE_BYTES = 16 << 10;

  private final String coding;
  private final Header field;

  ContentCoding(String coding) {
    this.coding = coding;
    field = ordinal() == 0 ? null : HeaderValues.createCached("Content-Encoding", coding);
  }

  /** The header field of a reply; null for none. */
  Header field() {
    return field;
  }

  /** The coding that a request's Content-Encoding names. */
  static ContentCoding ofRequest(String value) {
    if (value.isEmpty()) {
      return NONE;
    }
    for (ContentCoding one : values()) {
      if (one.coding.equalsIgnoreCase(value)) {
        return one;
      }
    }
    throw HttpFailure.withField(
        Status.NOT_IMPLEMENTED,
        "Unsupported compression type: expected gzip or deflate as Content-Encoding, got '"
            + value
            + "'",
        "Accept-Encoding",
        "gzip, deflate");
  }

  /** The coding that an Accept-Encoding prefers: the first of equals. */
  static ContentCoding preferred(String value) {
    if (value.isEmpty()) {
      return NONE;
    }
    ContentCoding best = NONE;
    double bestQuality = 0;
    for (String element : value.split(",")) {
      String[] parts = element.split(";", -1);
      String name = parts[0].strip().toLowerCase(Locale.ROOT);
      double quality = parts.length > 1 ? quality(parts[1].strip()) : 1;
      for (ContentCoding one : values()) {
        if (one.coding.equals(name) && quality > bestQuality) {
          best = one;
          bestQuality = quality;
        }
      }
    }
    return best;
  }

  private static double quality(String parameter) {
    if (!parameter.startsWith("q=")) {
      return 1;
    }
    try {
      return Double.parseDouble(parameter.substring(2));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Compresses the JSON and the binary data of a reply; not for {@link #NONE}. */
  PieceBuffer compress(PieceBuffer json, List<MemorySegment> binary) throws IOException {
    PieceBuffer compressed = json.another();
    OutputStream paused = // compressing 512 bytes takes up to 0.2 ms
        new FilterOutputStream(compressed) {
          @Override
          public void write(byte[] bytes, int offset, int count) {
            json.pause();
            compressed.write(bytes, offset, count);
          }
        };
    try (OutputStream to =
        this == GZIP ? new GZIPOutputStream(paused) : new DeflaterOutputStream(paused)) {
      json.writeTo(to);
      byte[] piece = new byte[PIECE_BYTES];
      for (MemorySegment segment : binary) {
        for (long at = 0; at < segment.byteSize(); at += piece.length) {
          int count = (int) Math.min(piece.length, segment.byteSize() - at);
          MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, piece, 0, count);
          to.write(piece, 0, count);
          json.pause();
        }
      }
    }
    return compressed;
  }

  /** Decompresses a request's body, of either coding. The size is limited as for other bodies. */
  static final class Inflated {

    private final ByteSource sent;
    private final long mostBytes;
    private final byte[] piece = new byte[PIECE_BYTES];
    private InputStream inflated; // from the first read on
    private long received;

    Inflated(ByteSource sent, long mostBytes) {
      this.sent = sent;
      this.mostBytes = mostBytes;
    }

    int read(byte[] to, int offset, int count) throws IOException {
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

    long read(MemorySegment to, long offset, long count) throws IOException {
      int taken = read(piece, 0, (int) Math.min(count, piece.length));
      if (taken > 0) {
        MemorySegment.copy(piece, 0, to, ValueLayout.JAVA_BYTE, offset, taken);
      }
      return taken;
    }

    /** Tells zlib from raw deflate by the first bytes, since clients confuse the two. */
    private InputStream open() throws IOException {
      PushbackInputStream start = new PushbackInputStream(sent.asStream(), 1);
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

    /** Frees the decompressor. */
    void close() {
      if (inflated != null) {
        try {
          inflated.close();
        } catch (IOException e) {
          // The stream below has nothing to close.
        }
      }
    }
  }
}
