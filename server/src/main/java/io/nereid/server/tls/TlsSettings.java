package io.nereid.server.tls;

import io.nereid.server.shared.ReloadedFiles;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * How the connections of a server are encrypted. The files are looked at when a connection is made:
 * one that is made after they changed gets what they hold then, those that are there go on.
 */
public final class TlsSettings {

  /** The versions that are spoken. */
  public static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

  private final ServerTlsOptions options;
  private final ReloadedFiles<TlsIdentity> identity;

  private TlsSettings(ServerTlsOptions options, ReloadedFiles<TlsIdentity> identity) {
    this.options = options;
    this.identity = identity;
  }

  /** Reads the files; fails when they cannot be used. */
  public static TlsSettings open(ServerTlsOptions options) {
    try {
      return new TlsSettings(
          options,
          new ReloadedFiles<>(
              "certificate " + options.certificate(),
              options.files(),
              () -> TlsIdentity.load(options)));
    } catch (IOException e) {
      throw new NereidException(StatusCode.INVALID_ARGUMENT, "connections cannot be encrypted", e);
    }
  }

  /** What it was made of. */
  public ServerTlsOptions options() {
    return options;
  }

  /** What the next connection is made with; to be asked for anew for each. */
  public SSLContext context() {
    return identity.current().context();
  }

  /**
   * The server's side of a connection that is just being made.
   *
   * @param applicationProtocols offered by ALPN, the best first
   */
  public SSLEngine newEngine(String... applicationProtocols) {
    SSLEngine engine = context().createSSLEngine();
    engine.setUseClientMode(false);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(PROTOCOLS.toArray(String[]::new));
    parameters.setUseCipherSuitesOrder(true);
    parameters.setApplicationProtocols(applicationProtocols);
    if (options.clientCa().isPresent()) {
      switch (options.clientCertificate()) {
        case REQUIRED -> parameters.setNeedClientAuth(true);
        case OPTIONAL -> parameters.setWantClientAuth(true);
      }
    }
    engine.setSSLParameters(parameters);
    return engine;
  }

  /**
   * Gives the newest certificate and key to whoever keeps it: for libraries that make a context of
   * their own once.
   */
  public X509ExtendedKeyManager keyManager() {
    return new CurrentKeyManager(() -> identity.current().keyManager());
  }

  /** Trusts whom the newest files trust; empty where clients need no certificate. */
  public Optional<X509ExtendedTrustManager> trustManager() {
    return options
        .clientCa()
        .map(
            file -> new CurrentTrustManager(() -> identity.current().trustManager().orElseThrow()));
  }
}
