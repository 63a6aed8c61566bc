package io.nereid.stores;

import io.nereid.tls.PemFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Signs models with Ed25519, and checks signatures. Keys are PEM files, as {@code openssl genpkey
 * -algorithm ed25519} makes them. Any thread may call.
 *
 * @param keys those that are trusted
 */
public record Signatures(List<PublicKey> keys) {

  private static final String ALGORITHM = "Ed25519";

  private static final Pattern PUBLIC_KEY =
      Pattern.compile("-----BEGIN PUBLIC KEY-----([\\s\\w+/=]+)-----END PUBLIC KEY-----");

  /** Reads public keys; a file may have several. */
  static Signatures read(List<Path> files) throws IOException {
    List<PublicKey> keys = new ArrayList<>();
    for (Path file : files) {
      Matcher blocks = PUBLIC_KEY.matcher(Files.readString(file));
      int before = keys.size();
      while (blocks.find()) {
        byte[] der = Base64.getMimeDecoder().decode(blocks.group(1));
        try {
          keys.add(KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(der)));
        } catch (GeneralSecurityException e) {
          throw new IOException(file + ": expected public keys of Ed25519", e);
        }
      }
      if (keys.size() == before) {
        throw new IOException(file + ": expected a block 'PUBLIC KEY', got none");
      }
    }
    return new Signatures(keys);
  }

  /** Makes a pair of keys: the private one in a file that only its owner reads. */
  public static void makeKeys(Path privateKey, Path publicKey) throws IOException {
    try {
      KeyPair pair = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
      writePrivate(privateKey, pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
      Files.writeString(
          publicKey,
          pem("PUBLIC KEY", pair.getPublic().getEncoded()),
          StandardOpenOption.CREATE_NEW);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("each JDK has it", e);
    }
  }

  /** Writes a new file that only its owner reads. */
  static void writePrivate(Path file, String text) throws IOException {
    var owner = PosixFilePermissions.fromString("rw-------");
    Files.createFile(file, PosixFilePermissions.asFileAttribute(owner));
    Files.writeString(file, text);
  }

  private static String pem(String label, byte[] der) {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(label, lines, label);
  }

  /** Signs what is in a model's directory now. */
  public static void sign(Path model, Path privateKey) throws IOException {
    Manifest manifest = Manifest.of(model);
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initSign(PemFile.read(privateKey).privateKey());
      signature.update(manifest.text().getBytes(StandardCharsets.UTF_8));
      String text = Base64.getEncoder().encodeToString(signature.sign());
      new Manifest(manifest.text(), text).write(model);
    } catch (GeneralSecurityException e) {
      throw new IOException(privateKey + ": expected a private key of Ed25519", e);
    }
  }

  /** Throws unless a trusted key signed all that is in a model's directory. */
  void check(Path model) throws IOException {
    Manifest manifest = Manifest.read(model.resolve(Manifest.NAME));
    byte[] signature = decoded(manifest.signature());
    for (PublicKey key : Set.copyOf(keys)) {
      try {
        Signature check = Signature.getInstance(ALGORITHM);
        check.initVerify(key);
        check.update(manifest.text().getBytes(StandardCharsets.UTF_8));
        if (check.verify(signature)) {
          manifest.check(model);
          return;
        }
      } catch (GeneralSecurityException e) {
        // A signature of another length is none of this key.
      }
    }
    throw new IOException(Manifest.NAME + ": none of the trusted keys has signed it");
  }

  /** Decodes a signature, of whose texts in Base64 only the one that is written is taken. */
  private static byte[] decoded(String text) throws IOException {
    try {
      byte[] signature = Base64.getDecoder().decode(text);
      if (Base64.getEncoder().encodeToString(signature).equals(text)) {
        return signature;
      }
    } catch (IllegalArgumentException e) {
      // It is no Base64 at all.
    }
    throw new IOException(Manifest.NAME + ": expected a signature in Base64");
  }
}
