package io.nereid.server.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * What a set of PEM files held at one time.
 *
 * @param keyManager gives the certificate chain and its key
 * @param trustManager tells which clients are trusted; empty where clients need no certificate
 * @param context makes connections of both; sessions are not resumed in that of another identity
 */
record TlsIdentity(
    X509ExtendedKeyManager keyManager,
    Optional<X509ExtendedTrustManager> trustManager,
    SSLContext context) {

  /** Makes aliases that no other identity has: they are all that a handshake remembers of one. */
  private static final AtomicLong LOADS = new AtomicLong();

  /** Of keys as PKCS #8 has them, whose algorithm is inside. */
  private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA", "EdDSA", "RSASSA-PSS");

  static TlsIdentity load(ServerTlsOptions options) throws IOException {
    List<X509Certificate> chain = certificates(options.certificate());
    PrivateKey key = privateKey(options.key());
    try {
      if (!belongTogether(key, chain.getFirst().getPublicKey())) {
        throw PemFile.invalid(
            options.key(),
            "expected the key of the first certificate in "
                + options.certificate()
                + ", got another");
      }
      X509ExtendedKeyManager keys = keyManager(chain, key);
      Optional<X509ExtendedTrustManager> trust = Optional.empty();
      if (options.clientCa().isPresent()) {
        trust = Optional.of(trustManager(certificates(options.clientCa().get())));
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

  private static List<X509Certificate> certificates(Path file) throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (PemFile.Block block : PemFile.read(file)) {
      if (block.label().equals("CERTIFICATE")) {
        try {
          Certificate certificate =
              CertificateFactory.getInstance("X.509")
                  .generateCertificate(new ByteArrayInputStream(block.bytes()));
          certificates.add((X509Certificate) certificate);
        } catch (CertificateException e) {
          throw PemFile.invalid(
              file, "expected certificates, got one that is broken: " + e.getMessage());
        }
      }
    }
    if (certificates.isEmpty()) {
      throw PemFile.invalid(file, "expected a block 'CERTIFICATE', got none");
    }
    return certificates;
  }

  private static PrivateKey privateKey(Path file) throws IOException {
    for (PemFile.Block block : PemFile.read(file)) {
      try {
        switch (block.label()) {
          case "PRIVATE KEY":
            return privateKey(block.bytes());
          case "RSA PRIVATE KEY":
            return privateKey(Der.pkcs8OfRsa(block.bytes()));
          case "EC PRIVATE KEY":
            return privateKey(Der.pkcs8OfEc(block.bytes()));
          case "ENCRYPTED PRIVATE KEY":
            throw PemFile.invalid(file, "expected a key that is not encrypted");
          default: // such as EC PARAMETERS, which the key itself holds too
        }
      } catch (GeneralSecurityException | IllegalArgumentException | IndexOutOfBoundsException e) {
        throw PemFile.invalid(
            file, "expected an RSA, EC or EdDSA key in the block '" + block.label() + "'");
      }
    }
    throw PemFile.invalid(
        file, "expected a block 'PRIVATE KEY', 'RSA PRIVATE KEY' or 'EC PRIVATE KEY', got none");
  }

  private static PrivateKey privateKey(byte[] pkcs8) throws GeneralSecurityException {
    for (String algorithm : KEY_ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
      } catch (InvalidKeySpecException e) {
        // It is one of the others.
      }
    }
    throw new InvalidKeySpecException("none of " + KEY_ALGORITHMS);
  }

  /** Whether what one of them signs is what the other verifies. */
  private static boolean belongTogether(PrivateKey key, PublicKey publicKey)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          case "EdDSA" -> "EdDSA";
          default -> null; // the first handshake will tell
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

  private static X509ExtendedKeyManager keyManager(List<X509Certificate> chain, PrivateKey key)
      throws GeneralSecurityException, IOException {
    char[] password = {}; // the store never leaves this method
    KeyStore store = emptyStore();
    store.setKeyEntry(
        "server" + LOADS.incrementAndGet(), key, password, chain.toArray(Certificate[]::new));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, password);
    return first(factory.getKeyManagers(), X509ExtendedKeyManager.class);
  }

  private static X509ExtendedTrustManager trustManager(List<X509Certificate> roots)
      throws GeneralSecurityException, IOException {
    KeyStore store = emptyStore();
    for (int i = 0; i < roots.size(); i++) {
      store.setCertificateEntry("ca" + i, roots.get(i));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(store);
    return first(factory.getTrustManagers(), X509ExtendedTrustManager.class);
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static <T> T first(Object[] managers, Class<T> type) throws GeneralSecurityException {
    return Arrays.stream(managers)
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElseThrow(() -> new GeneralSecurityException("expected a " + type.getSimpleName()));
  }
}
