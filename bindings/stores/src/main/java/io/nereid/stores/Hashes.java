package io.nereid.stores;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * The digests of a file.
 *
 * @param sha256 in hexadecimal digits
 * @param md5 likewise
 * @param crc32c the checksum that Google's store tells
 */
record Hashes(String sha256, String md5, int crc32c) {

  private static final int BLOCK_BYTES = 1 << 18;

  /** Reads a file once for all three. */
  static Hashes of(Path file) throws IOException {
    MessageDigest sha256 = newSha256();
    MessageDigest md5 = digest("MD5");
    CRC32C crc = new CRC32C();
    byte[] block = new byte[BLOCK_BYTES];
    try (InputStream in = Files.newInputStream(file)) {
      for (int read = in.read(block); read > 0; read = in.read(block)) {
        sha256.update(block, 0, read);
        md5.update(block, 0, read);
        crc.update(block, 0, read);
      }
    }
    return new Hashes(hex(sha256.digest()), hex(md5.digest()), (int) crc.getValue());
  }

  /** The SHA-256 of a file. */
  static String sha256(Path file) throws IOException {
    MessageDigest digest = newSha256();
    byte[] block = new byte[BLOCK_BYTES];
    try (InputStream in = Files.newInputStream(file)) {
      for (int read = in.read(block); read > 0; read = in.read(block)) {
        digest.update(block, 0, read);
      }
    }
    return hex(digest.digest());
  }

  /** The SHA-256 of a text. */
  static String sha256(String text) {
    return hex(newSha256().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  static MessageDigest newSha256() {
    return digest("SHA-256");
  }

  private static MessageDigest digest(String name) {
    try {
      return MessageDigest.getInstance(name);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("each JDK has it", e);
    }
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
