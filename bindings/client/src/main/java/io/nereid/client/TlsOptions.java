package io.nereid.client;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The certificates of a client for {@code https} and {@code grpcs}: the trusted ones and its own.
 * All files are PEM.
 *
 * @param trusted certificates of the authorities to trust; empty: those the JVM trusts
 * @param certificate the client's certificate, with the chain behind it; empty: none
 * @param privateKey its private key, RSA, EC or EdDSA and not encrypted; empty exactly if the
 *     certificate is
 */
public record TlsOptions(
    Optional<Path> trusted, Optional<Path> certificate, Optional<Path> privateKey) {

  /** The authorities that the JVM trusts, and no certificate of the client's. */
  public static final TlsOptions DEFAULT =
      new TlsOptions(Optional.empty(), Optional.empty(), Optional.empty());

  /** Checks the values. */
  public TlsOptions {
    Objects.requireNonNull(trusted);
    if (certificate.isPresent() != privateKey.isPresent()) {
      throw new IllegalArgumentException("a certificate and its private key go together");
    }
  }

  /** Returns a copy that trusts only the authorities in this file. */
  public TlsOptions trusting(Path certificates) {
    return new TlsOptions(Optional.of(certificates), certificate, privateKey);
  }

  /** Returns a copy with a certificate for servers that ask for one. */
  public TlsOptions presenting(Path certificateChain, Path key) {
    return new TlsOptions(trusted, Optional.of(certificateChain), Optional.of(key));
  }
}
