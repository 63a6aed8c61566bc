package io.nereid.server.http.seam;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import java.util.function.Supplier;

/**
 * The reader that Helidon parses requests with, which checks the frames of chunks: Helidon skips
 * two bytes behind a chunk without a look at them, and takes a size with a sign. A proxy that reads
 * such a body in another way would not see a request that the server finds behind it. Helidon reads
 * lines of chunks only: the size, then as many bytes, then it skips the line break. The
 * connection's thread uses it.
 */
final class ChunkReader extends DataReader {

  private boolean afterSize;
  private boolean afterChunk;

  @SuppressWarnings("removal") // a Helidon without it does not compile, and wants another class
  ChunkReader(Supplier<byte[]> bytes) {
    super(bytes);
  }

  @Override
  public String readLine() {
    String line = super.readLine();
    if (line.startsWith("+")) {
      throw noChunk();
    }
    afterSize = !line.isEmpty(); // an empty line ends the last chunk
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
