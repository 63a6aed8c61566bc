package io.nereid.client;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * Says which servers at {@code https} and {@code grpcs} addresses the client trusts, and with which
 * certificate it identifies itself. All files are PEM.
 *
 * @param trusted certificates of the authorities to trust; empty: those the JVM trusts
 * @param certificate the client's certificate, with the chain behind it; empty: it shows none
 * @param privateKey its private key, RSA, EC or EdDSA and not encrypted; there exactly when a
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

  /** The same, trusting only the authorities in this file. */
  public TlsOptions trusting(Path certificates) {
    return new TlsOptions(Optional.of(certificates), certificate, privateKey);
  }

  /** The same, with a certificate for servers that ask for one. */
  public TlsOptions presenting(Path certificateChain, Path key) {
    return new TlsOptions(trusted, Optional.of(certificateChain), Optional.of(key));
  }
}
