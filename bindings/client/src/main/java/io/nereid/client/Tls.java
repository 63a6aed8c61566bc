package io.nereid.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** {@link TlsOptions} in the terms of the JVM. */
final class Tls {

  private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String KEY_END = "-----END PRIVATE KEY-----";

  private Tls() {}

  static SSLContext context(TlsOptions options) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keyManagers(options), trustManagers(options), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("TLS cannot be set up", e);
    }
  }

  /** Null: the JVM's. */
  static TrustManager[] trustManagers(TlsOptions options) {
    if (options.trusted().isEmpty()) {
      return null;
    }
    Path file = options.trusted().get();
    try {
      KeyStore store = emptyStore();
      int count = 0;
      for (Certificate certificate : certificates(file)) {
        store.setCertificateEntry("trusted-" + count++, certificate);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory.getTrustManagers();
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("cannot trust the certificates in " + file, e);
    }
  }

  /** Null: there are none. */
  static KeyManager[] keyManagers(TlsOptions options) {
    if (options.certificate().isEmpty()) {
      return null;
    }
    Path file = options.certificate().get();
    try {
      KeyStore store = emptyStore();
      char[] none = new char[0];
      Certificate[] chain = certificates(file).toArray(Certificate[]::new);
      store.setKeyEntry("client", privateKey(options.privateKey().orElseThrow()), none, chain);
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(store, none);
      return factory.getKeyManagers();
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("cannot use the certificate in " + file, e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException {
    Collection<? extends Certificate> certificates =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(bytes(file)));
    if (certificates.isEmpty()) {
      throw new IllegalArgumentException("there is no certificate in " + file);
    }
    return certificates;
  }

  private static PrivateKey privateKey(Path file) throws GeneralSecurityException {
    String text = new String(bytes(file), StandardCharsets.ISO_8859_1);
    int begin = text.indexOf(KEY_BEGIN);
    int end = text.indexOf(KEY_END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException(
          "expected '"
              + KEY_BEGIN
              + "' in "
              + file
              + ": other keys are converted by 'openssl pkcs8 -topk8 -nocrypt'");
    }
    byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + KEY_BEGIN.length(), end));
    PKCS8EncodedKeySpec encoded = new PKCS8EncodedKeySpec(der);
    // The encoding names its algorithm, but only each factory can tell whether it is its own.
    for (String algorithm : new String[] {"RSA", "EC", "EdDSA"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException e) {
        continue;
      }
    }
    throw new IllegalArgumentException("the key in " + file + " is neither RSA, EC nor EdDSA");
  }
}
