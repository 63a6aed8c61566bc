package io.nereid.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * The certificates and the private key in a PEM file (RFC 7468). Text around the blocks is passed
 * over. A failure names the file and what was expected there, and never shows a key.
 */
public final class PemFile {

  private static final String BEGIN = "-----BEGIN ";
  private static final String END = "-----END ";
  private static final String DASHES = "-----";

  private static final String HELP =
      ": other keys are converted by 'openssl pkcs8 -topk8 -nocrypt'";

  /** Algorithms to try: a key in PKCS #8 names its own, but only each factory can tell which. */
  private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA", "EdDSA", "RSASSA-PSS");

  /**
   * One block of the file.
   *
   * @param label what it says to hold, such as {@code CERTIFICATE}
   * @param bytes the DER in it
   */
  private record Block(String label, byte[] bytes) {}

  private final Path file;
  private final List<Block> blocks;

  private PemFile(Path file, List<Block> blocks) {
    this.file = file;
    this.blocks = blocks;
  }

  /** Reads a file, whatever its size. */
  public static PemFile read(Path file) throws IOException {
    return of(file, Files.readString(file, StandardCharsets.ISO_8859_1));
  }

  /**
   * Takes what a file holds.
   *
   * @param file is named in failures
   */
  public static PemFile of(Path file, String text) throws IOException {
    List<Block> blocks = new ArrayList<>();
    String label = null;
    StringBuilder base64 = new StringBuilder();
    for (String line : text.lines().map(String::strip).toList()) {
      if (label == null) {
        if (line.startsWith(BEGIN) && line.endsWith(DASHES)) {
          label = line.substring(BEGIN.length(), line.length() - DASHES.length());
          base64.setLength(0);
        }
      } else if (line.equals(END + label + DASHES)) {
        blocks.add(new Block(label, decode(base64.toString(), label, file)));
        label = null;
      } else if (line.contains(":")) {
        throw invalid(file, "expected a block without header lines (an encrypted key has them)");
      } else {
        base64.append(line);
      }
    }
    if (label != null) {
      throw invalid(file, "expected the line '" + END + label + DASHES + "', got the end");
    }
    return new PemFile(file, blocks);
  }

  private static byte[] decode(String base64, String label, Path file) throws IOException {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw invalid(file, "expected Base64 in the block '" + label + "'"); // without the key
    }
  }

  private static IOException invalid(Path file, String message) {
    return new IOException(file + ": " + message);
  }

  /** All certificates, in their order; there is at least one. */
  public List<X509Certificate> certificates() throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (Block block : blocks) {
      if (block.label.equals("CERTIFICATE")) {
        try {
          certificates.add(
              (X509Certificate)
                  CertificateFactory.getInstance("X.509")
                      .generateCertificate(new ByteArrayInputStream(block.bytes)));
        } catch (CertificateException e) {
          throw invalid(file, "expected certificates, got one that is broken: " + e.getMessage());
        }
      }
    }
    if (certificates.isEmpty()) {
      throw invalid(file, "expected a block 'CERTIFICATE', got none");
    }
    return certificates;
  }

  /**
   * The first private key, which must not be encrypted: RSA, EC or EdDSA, as PKCS #8 has it, or RSA
   * as PKCS #1 has it, or EC as SEC 1 has it.
   */
  public PrivateKey privateKey() throws IOException {
    for (Block block : blocks) {
      try {
        switch (block.label) {
          case "PRIVATE KEY":
            return pkcs8(block.bytes);
          case "RSA PRIVATE KEY":
            return pkcs8(Der.pkcs8OfRsa(block.bytes));
          case "EC PRIVATE KEY":
            return pkcs8(Der.pkcs8OfEc(block.bytes));
          case "ENCRYPTED PRIVATE KEY":
            throw invalid(file, "expected a key that is not encrypted" + HELP);
          default: // such as EC PARAMETERS, which the key itself holds too
        }
      } catch (GeneralSecurityException | IllegalArgumentException | IndexOutOfBoundsException e) {
        throw invalid(
            file, "expected an RSA, EC or EdDSA key in the block '" + block.label + "'" + HELP);
      }
    }
    throw invalid(
        file,
        "expected a block 'PRIVATE KEY', 'RSA PRIVATE KEY' or 'EC PRIVATE KEY', got none" + HELP);
  }

  private static PrivateKey pkcs8(byte[] key) throws GeneralSecurityException {
    for (String algorithm : KEY_ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(key));
      } catch (InvalidKeySpecException e) {
        // It is one of the others.
      }
    }
    throw new InvalidKeySpecException("none of " + KEY_ALGORITHMS);
  }

  /** Puts the older forms of private keys into PKCS #8, which is all that the JDK reads. */
  private static final class Der {

    private static final int INTEGER = 0x02;
    private static final int OCTET_STRING = 0x04;
    private static final int SEQUENCE = 0x30;

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

    static byte[] pkcs8OfRsa(byte[] key) {
      return element(SEQUENCE, VERSION_0, element(SEQUENCE, RSA), element(OCTET_STRING, key));
    }

    static byte[] pkcs8OfEc(byte[] key) {
      return element(
          SEQUENCE, VERSION_0, element(SEQUENCE, EC, curve(key)), element(OCTET_STRING, key));
    }

    private static byte[] element(int tag, byte[]... contents) {
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
}
