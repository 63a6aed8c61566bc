package io.nereid.server.tls;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** Writes DER, for certificates and keys of tests. */
final class Der {

  static final int INTEGER = 0x02;
  static final int OCTET_STRING = 0x04;
  static final int SEQUENCE = 0x30;

  private Der() {}

  static byte[] element(int tag, byte[]... contents) {
    int length = Arrays.stream(contents).mapToInt(content -> content.length).sum();
    ByteArrayOutputStream out = new ByteArrayOutputStream(length + 6);
    out.write(tag);
    if (length < 0x80) {
      out.write(length);
    } else {
      int bytes = (39 - Integer.numberOfLeadingZeros(length)) / 8;
      out.write(0x80 | bytes);
      for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out.write(length >> shift);
      }
    }
    for (byte[] content : contents) {
      out.writeBytes(content);
    }
    return out.toByteArray();
  }
}
