package io.nereid.server.tls;

import io.nereid.server.shared.SmallFile;
import io.nereid.tls.PemFile;
import io.nereid.tls.TlsManagers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The keys and certificates of a set of PEM files at one time, ready for connections.
 *
 * @param keyManager gives the certificate chain and its key
 * @param trustManager tells which clients are trusted; empty where clients need no certificate
 * @param context makes connections with both; sessions are not resumed across identities
 */
record TlsIdentity(
    X509ExtendedKeyManager keyManager,
    Optional<X509ExtendedTrustManager> trustManager,
    SSLContext context) {

  /** Makes unique aliases, by which a handshake finds the identity it began with. */
  private static final AtomicLong LOADS = new AtomicLong();

  static TlsIdentity load(ServerTlsOptions options) throws IOException {
    List<X509Certificate> chain = read(options.certificate()).certificates();
    PrivateKey key = read(options.key()).privateKey();
    try {
      if (!belongTogether(key, chain.getFirst().getPublicKey())) {
        throw new IOException(
            "%s: expected the key of the first certificate in %s, got another"
                .formatted(options.key(), options.certificate()));
      }
      X509ExtendedKeyManager keys =
          TlsManagers.showing("server" + LOADS.incrementAndGet(), chain, key);
      Optional<X509ExtendedTrustManager> trust = Optional.empty();
      if (options.clientCa().isPresent()) {
        trust = Optional.of(TlsManagers.trusting(read(options.clientCa().get()).certificates()));
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          new X509ExtendedKeyManager[] {keys},
          trust.map(manager -> new TrustManager[] {manager}).orElse(null),
          null);
      return new TlsIdentity(keys, trust, context);
    } catch (GeneralSecurityException e) {
      throw new IOException(
          options.certificate() + " and " + options.key() + " cannot be used: " + e.getMessage(),
          e);
    }
  }

  private static PemFile read(Path file) throws IOException {
    return PemFile.of(file, SmallFile.read(file, StandardCharsets.ISO_8859_1));
  }

  /** True if the public key verifies the private key's signature. */
  private static boolean belongTogether(PrivateKey key, PublicKey publicKey)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          case "EdDSA" -> "EdDSA";
          default -> null; // unknown algorithm: the first handshake will tell
        };
    if (algorithm == null) {
      return true;
    }
    if (!publicKey.getAlgorithm().equals(key.getAlgorithm())) {
      return false;
    }
    byte[] text = {1, 2, 3, 4};
    Signature signing = Signature.getInstance(algorithm);
    signing.initSign(key);
    signing.update(text);
    byte[] signature = signing.sign();
    Signature verifying = Signature.getInstance(algorithm);
    verifying.initVerify(publicKey);
    verifying.update(text);
    return verifying.verify(signature);
  }
}
