package io.nereid.internal.loader;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.util.HexFormat;
import java.util.jar.JarEntry;
import java.util.zip.CRC32;

/**
 * Distinguishes contents, and detects damage but not forgery. A jar stores the checksums of its
 * entries, so reading one needs no decompression.
 *
 * @param bytes the length
 * @param crc the CRC-32, as zip files have it
 */
record Checksum(long bytes, long crc) {

  private static final int CHUNK_BYTES = 1 << 16;

  /** The checksum of all that is left of a stream. */
  static Checksum of(InputStream in) throws IOException {
    CRC32 crc = new CRC32();
    byte[] chunk = new byte[CHUNK_BYTES];
    long bytes = 0;
    for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
      crc.update(chunk, 0, n);
      bytes += n;
    }
    return new Checksum(bytes, crc.getValue());
  }

  /** The checksum of a resource. */
  static Checksum of(URL url) throws IOException {
    if (url.openConnection() instanceof JarURLConnection jar) {
      JarEntry entry = jar.getJarEntry();
      if (entry != null && entry.getSize() >= 0 && entry.getCrc() >= 0) {
        return new Checksum(entry.getSize(), entry.getCrc());
      }
    }
    try (InputStream in = url.openStream()) {
      return of(in);
    }
  }

  /** The checksum as the name of a directory. */
  String text() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(bytes) + "-" + hex.toHexDigits((int) crc);
  }
}
