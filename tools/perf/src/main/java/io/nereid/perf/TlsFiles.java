package io.nereid.perf;

import io.nereid.client.TlsOptions;
import io.nereid.tls.PemFile;
import io.nereid.tls.TlsManagers;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * The certificates of a client: the trusted ones and its own. All files are PEM.
 *
 * @param trusted certificates of the authorities to trust; empty: those the JVM trusts
 * @param certificate the client's certificate with its chain; empty: none
 * @param privateKey the certificate's key, not encrypted; empty exactly if the certificate is
 */
record TlsFiles(Optional<Path> trusted, Optional<Path> certificate, Optional<Path> privateKey) {

  TlsFiles {
    if (certificate.isPresent() != privateKey.isPresent()) {
      throw new IllegalArgumentException(
          "expected --tls-cert and --tls-key together, got one without the other");
    }
  }

  /** The same as options of Nereid's client. */
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

  /** The managers for trust; null: the JVM's. */
  TrustManager[] trustManagers() throws GeneralSecurityException, IOException {
    if (trusted.isEmpty()) {
      return null;
    }
    return new TrustManager[] {TlsManagers.trusting(PemFile.read(trusted.get()).certificates())};
  }

  /** The managers of the client's key; null: none. */
  KeyManager[] keyManagers() throws GeneralSecurityException, IOException {
    if (certificate.isEmpty()) {
      return null;
    }
    return new KeyManager[] {
      TlsManagers.showing(
          "client",
          PemFile.read(certificate.get()).certificates(),
          PemFile.read(privateKey.orElseThrow()).privateKey())
    };
  }
}
