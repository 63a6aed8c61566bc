package io.nereid.server.http.seam;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The reader that Helidon parses requests with, which checks the frames of chunks: Helidon skips
 * two bytes behind a chunk without a look at them, and takes a size with a sign. A proxy that reads
 * such a body in another way would not see a request that the server finds behind it. Extensions of
 * chunks and trailers, which Helidon refuses, are left out. Helidon reads lines of chunks only: the
 * size, then as many bytes, then it skips the line break. The connection's thread uses it.
 */
final class ChunkReader extends DataReader {

  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

  /** The longest line of a size: a pattern takes stack for each extension. */
  private static final int MOST_SIZE_CHARS = 256;

  private static final Pattern FIELD = Pattern.compile(TOKEN + ":.*");

  private static final Pattern SIZE =
      Pattern.compile(
          "(?<size>[0-9A-Fa-f]*)(\\s*;\\s*T(\\s*=\\s*(T|\"[^\"]*\"))?)*".replace("T", TOKEN));

  private final int mostTrailerBytes;
  private boolean afterSize;
  private boolean afterChunk;
  private boolean afterLast; // the size of the last chunk was read, which is 0

  @SuppressWarnings("removal") // a Helidon without it does not compile, and wants another class
  ChunkReader(Supplier<byte[]> bytes, int mostTrailerBytes) {
    super(bytes);
    this.mostTrailerBytes = mostTrailerBytes;
  }

  @Override
  public String readLine() {
    String line = super.readLine();
    if (afterLast) {
      afterLast = false;
      return trailersFrom(line);
    }
    Matcher sized = SIZE.matcher(line);
    if (line.length() > MOST_SIZE_CHARS || !sized.matches()) {
      throw noChunk();
    }
    String size = sized.group("size");
    afterSize = !size.isEmpty();
    afterLast = afterSize && size.chars().allMatch(digit -> digit == '0');
    return size;
  }

  /** Skips fields, of which the first line is given, and returns the empty line behind them. */
  private String trailersFrom(String first) {
    int length = 0;
    String line = first;
    while (!line.isEmpty()) {
      length += line.length();
      if (length > mostTrailerBytes || !FIELD.matcher(line).matches()) {
        throw noChunk();
      }
      line = super.readLine();
    }
    return line;
  }

  @Override
  public BufferData readBuffer(int length) {
    BufferData bytes = super.readBuffer(length);
    afterChunk = afterSize;
    afterSize = false;
    return bytes;
  }

  @Override
  public void skip(int count) {
    if (!afterChunk) {
      super.skip(count);
      return;
    }
    afterChunk = false;
    if (read() != '\r' || read() != '\n') {
      throw noChunk();
    }
  }

  private static RequestException noChunk() {
    return RequestException.builder()
        .type(EventType.BAD_REQUEST)
        .setKeepAlive(false)
        .message("expected chunks, each with its size in front and a line break behind it")
        .build();
  }
}
