package io.nereid.perf;

import io.nereid.client.TlsOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * How the server is trusted, and who this client is. All files are PEM.
 *
 * @param trusted certificates of the authorities to trust; empty: those the JVM trusts
 * @param certificate the client's certificate with its chain; empty: it shows none
 * @param privateKey its key, PKCS #8 and not encrypted; there exactly when a certificate is
 */
record TlsFiles(Optional<Path> trusted, Optional<Path> certificate, Optional<Path> privateKey) {

  private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String KEY_END = "-----END PRIVATE KEY-----";

  TlsFiles {
    if (certificate.isPresent() != privateKey.isPresent()) {
      throw new IllegalArgumentException(
          "expected --tls-cert and --tls-key together, got one without the other");
    }
  }

  /** The same for Nereid's client. */
  TlsOptions forClient() {
    return new TlsOptions(trusted, certificate, privateKey);
  }

  SSLContext context() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keyManagers(), trustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new PerfException("TLS cannot be set up: " + e.getMessage(), e);
    }
  }

  /** Null: the JVM's. */
  TrustManager[] trustManagers() throws GeneralSecurityException, IOException {
    if (trusted.isEmpty()) {
      return null;
    }
    KeyStore store = emptyStore();
    int count = 0;
    for (Certificate one : certificates(trusted.get())) {
      store.setCertificateEntry("trusted-" + count++, one);
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  /** Null: there are none. */
  KeyManager[] keyManagers() throws GeneralSecurityException, IOException {
    if (certificate.isEmpty()) {
      return null;
    }
    KeyStore store = emptyStore();
    char[] none = new char[0];
    Certificate[] chain = certificates(certificate.get()).toArray(Certificate[]::new);
    store.setKeyEntry("client", key(privateKey.orElseThrow()), none, chain);
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, none);
    return factory.getKeyManagers();
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException, IOException {
    Collection<? extends Certificate> all =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
    if (all.isEmpty()) {
      throw new IOException("there is no certificate in " + file);
    }
    return all;
  }

  private static PrivateKey key(Path file) throws GeneralSecurityException, IOException {
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    int begin = text.indexOf(KEY_BEGIN);
    int end = text.indexOf(KEY_END);
    if (begin < 0 || end < begin) {
      throw new IOException(
          "expected '"
              + KEY_BEGIN
              + "' in "
              + file
              + ": other keys are converted by 'openssl pkcs8 -topk8 -nocrypt'");
    }
    byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + KEY_BEGIN.length(), end));
    for (String algorithm : new String[] {"RSA", "EC", "EdDSA"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (InvalidKeySpecException e) {
        continue; // the encoding names its algorithm, but only each factory can tell
      }
    }
    throw new IOException("the key in " + file + " is neither RSA, EC nor EdDSA");
  }
}
