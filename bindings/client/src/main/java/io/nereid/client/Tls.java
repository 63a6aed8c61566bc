package io.nereid.client;

import io.nereid.tls.PemFile;
import io.nereid.tls.TlsManagers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** Reads the files of {@link TlsOptions} into the JDK's and gRPC's objects for encryption. */
final class Tls {

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

  /** The managers for trust; null: the JVM's. */
  static TrustManager[] trustManagers(TlsOptions options) {
    if (options.trusted().isEmpty()) {
      return null;
    }
    Path file = options.trusted().get();
    try {
      return new TrustManager[] {TlsManagers.trusting(pem(file).certificates())};
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot trust the certificates in " + file, e);
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** The managers of the client's key; null: none. */
  static KeyManager[] keyManagers(TlsOptions options) {
    if (options.certificate().isEmpty()) {
      return null;
    }
    Path file = options.certificate().get();
    try {
      return new KeyManager[] {
        TlsManagers.showing(
            "client",
            pem(file).certificates(),
            pem(options.privateKey().orElseThrow()).privateKey())
      };
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot use the certificate in " + file, e);
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static PemFile pem(Path file) throws IOException {
    String text;
    try {
      text = Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
    return PemFile.of(file, text);
  }
}
