package io.nereid.server.tls;

import io.nereid.server.shared.SmallFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** The blocks of a PEM file (RFC 7468). Text around them is passed over. */
final class PemFile {

  private static final String BEGIN = "-----BEGIN ";
  private static final String END = "-----END ";
  private static final String DASHES = "-----";

  /**
   * One block.
   *
   * @param label what it says to hold, such as {@code CERTIFICATE}
   * @param bytes the DER in it
   */
  record Block(String label, byte[] bytes) {}

  private PemFile() {}

  static List<Block> read(Path file) throws IOException {
    List<Block> blocks = new ArrayList<>();
    String label = null;
    StringBuilder base64 = new StringBuilder();
    for (String line : SmallFile.read(file, StandardCharsets.ISO_8859_1).lines().toList()) {
      String text = line.strip();
      if (label == null) {
        if (text.startsWith(BEGIN) && text.endsWith(DASHES)) {
          label = text.substring(BEGIN.length(), text.length() - DASHES.length());
          base64.setLength(0);
        }
      } else if (text.equals(END + label + DASHES)) {
        blocks.add(new Block(label, decode(base64.toString(), label, file)));
        label = null;
      } else if (text.contains(":")) {
        throw invalid(file, "expected a block without header lines (an encrypted key has them)");
      } else {
        base64.append(text);
      }
    }
    if (label != null) {
      throw invalid(file, "expected the line '" + END + label + DASHES + "', got the end");
    }
    return blocks;
  }

  private static byte[] decode(String base64, String label, Path file) throws IOException {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw invalid(file, "expected Base64 in the block '" + label + "'"); // without the key
    }
  }

  static IOException invalid(Path file, String message) {
    return new IOException(file + ": " + message);
  }
}
