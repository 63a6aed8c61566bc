package io.nereid.server.tls;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** As much of DER as turns the older forms of private keys into PKCS #8. */
final class Der {

  static final int INTEGER = 0x02;
  static final int OCTET_STRING = 0x04;
  static final int SEQUENCE = 0x30;

  /** The field of an EC key that names its curve. */
  private static final int CURVE = 0xa0;

  private static final byte[] VERSION_0 = {INTEGER, 1, 0};

  /** The object identifier 1.2.840.113549.1.1.1, and the parameters NULL. */
  private static final byte[] RSA = {
    0x06, 9, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1, 0x05, 0
  };

  /** The object identifier 1.2.840.10045.2.1. */
  private static final byte[] EC = {0x06, 7, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 2, 1};

  private Der() {}

  /** From an RSA key as PKCS #1 has it. */
  static byte[] pkcs8OfRsa(byte[] key) {
    return element(SEQUENCE, VERSION_0, element(SEQUENCE, RSA), element(OCTET_STRING, key));
  }

  /** From an EC key as SEC 1 has it, with the curve that it names itself. */
  static byte[] pkcs8OfEc(byte[] key) {
    return element(
        SEQUENCE, VERSION_0, element(SEQUENCE, EC, curve(key)), element(OCTET_STRING, key));
  }

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

  /** Fails with an IndexOutOfBoundsException or IllegalArgumentException on what is no key. */
  private static byte[] curve(byte[] key) {
    int at = contentStart(key, 0);
    int end = elementEnd(key, 0);
    while (at < end) {
      int next = elementEnd(key, at);
      if ((key[at] & 0xff) == CURVE) {
        return Arrays.copyOfRange(key, contentStart(key, at), next);
      }
      at = next;
    }
    throw new IllegalArgumentException("expected an EC key that names its curve");
  }

  private static int contentStart(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    return at + 2 + (first < 0x80 ? 0 : first & 0x7f);
  }

  private static int elementEnd(byte[] der, int at) {
    int start = contentStart(der, at);
    int length = der[at + 1] & 0xff;
    if (length >= 0x80) {
      length = 0;
      for (int i = at + 2; i < start; i++) {
        length = length << 8 | der[i] & 0xff;
      }
    }
    int end = start + length;
    if (length < 0 || end < start || end > der.length) {
      throw new IllegalArgumentException("expected DER, got something that is cut off");
    }
    return end;
  }
}
