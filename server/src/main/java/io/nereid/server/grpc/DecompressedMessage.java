package io.nereid.server.grpc;

import io.grpc.Status;
import io.nereid.server.shared.GzipInput;
import java.io.IOException;
import java.io.InputStream;

/** A compressed message as it was, of which there is not more than there may be. For one thread. */
final class DecompressedMessage extends InputStream {

  private final InputStream bytes;
  private final int most;
  private long count;

  DecompressedMessage(InputStream compressed, int most) {
    bytes = new GzipInput(compressed);
    this.most = most;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    int some = bytes.read(to, offset, length);
    count += Math.max(0, some);
    if (count > most) {
      throw Status.RESOURCE_EXHAUSTED
          .withDescription(
              "expected a message of at most " + most + " bytes, got more once decompressed")
          .asRuntimeException();
    }
    return some;
  }
}
