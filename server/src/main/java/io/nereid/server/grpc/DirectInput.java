package io.nereid.server.grpc;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A stream of bytes that can go straight to where they belong. */
interface DirectInput {

  /** Fills a buffer, for which there must be bytes enough. */
  void readFully(ByteBuffer to) throws IOException;

  /** How many bytes that is worth while for. */
  default int leastBytes() {
    return 16 << 10;
  }
}
