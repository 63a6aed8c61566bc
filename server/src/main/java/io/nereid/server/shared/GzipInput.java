package io.nereid.server.shared;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;

/**
 * Decompresses gzip with any number of members. Nothing is read before the first byte is asked for,
 * so that a wrong header fails the reader. For one thread.
 */
public final class GzipInput extends InputStream {

  private static final int PIECE_BYTES = 16 << 10;

  private final InputStream compressed;
  private InputStream members; // null until something is read

  /** Takes over the stream. */
  public GzipInput(InputStream compressed) {
    this.compressed = compressed;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] to, int offset, int count) throws IOException {
    if (members == null) {
      members = new Members(compressed);
    }
    return members.read(to, offset, count);
  }

  @Override
  public void close() throws IOException {
    (members == null ? compressed : members).close();
  }

  /**
   * The JDK's stream calls itself at the end of each member to read the next one, as deep as there
   * are members without content. This class makes that call return at once and uses a loop.
   */
  private static final class Members extends GZIPInputStream {

    private boolean reading;
    private boolean ended; // a member has ended, and another one follows

    Members(InputStream compressed) throws IOException {
      super(compressed, PIECE_BYTES);
    }

    @Override
    public int read(byte[] to, int offset, int count) throws IOException {
      if (reading) {
        ended = true;
        return 0;
      }
      reading = true;
      try {
        int taken;
        do {
          ended = false;
          taken = super.read(to, offset, count);
        } while (ended);
        return taken;
      } finally {
        reading = false;
      }
    }
  }
}
