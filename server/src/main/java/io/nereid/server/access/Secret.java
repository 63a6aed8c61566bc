package io.nereid.server.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A secret text of clients, kept as a hash, so that no heap dump contains it and comparing takes
 * the same time for every wrong text.
 */
final class Secret {

  private final byte[] hash;

  private Secret(byte[] hash) {
    this.hash = hash;
  }

  static Secret of(String text) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return new Secret(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  boolean matches(Secret other) {
    return MessageDigest.isEqual(hash, other.hash);
  }

  @Override
  public String toString() {
    return "a secret";
  }
}
