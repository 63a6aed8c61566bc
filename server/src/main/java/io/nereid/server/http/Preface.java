package io.nereid.server.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What a client sends first when it knows that the server speaks HTTP/2. */
final class Preface {

  private static final byte[] BYTES =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private Preface() {}

  /** Whether the input begins with it; waits for as much as it takes to know. Takes nothing. */
  static boolean leads(ConnectionInput input) throws IOException {
    while (true) {
      int count = Math.min(input.available(), BYTES.length);
      for (int i = 0; i < count; i++) {
        if (input.bytes()[input.position() + i] != BYTES[i]) {
          return false;
        }
      }
      if (count == BYTES.length) {
        return true;
      }
      if (!input.fill()) {
        return false;
      }
    }
  }
}
