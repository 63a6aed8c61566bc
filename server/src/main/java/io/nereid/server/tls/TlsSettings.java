package io.nereid.server.tls;

import io.nereid.server.shared.ReloadedFiles;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Encrypts the connections of a frontend. Each new connection checks the files for changes and uses
 * their present content; older connections go on unchanged. Threads of all connections call it.
 */
public final class TlsSettings {

  /** The versions of TLS that are offered. */
  public static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

  private final ServerTlsOptions options;
  private final ReloadedFiles<TlsIdentity> identity;

  private TlsSettings(ServerTlsOptions options, ReloadedFiles<TlsIdentity> identity) {
    this.options = options;
    this.identity = identity;
  }

  /** Reads the files; throws if they cannot be used. */
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

  /** The options that this was made from. */
  public ServerTlsOptions options() {
    return options;
  }

  /** The context for the next connection; each connection asks anew. */
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
   * A key manager that always uses the newest certificate and key, for libraries that make their
   * context once.
   */
  public X509ExtendedKeyManager keyManager() {
    return new CurrentKeyManager(() -> identity.current().keyManager());
  }

  /** A trust manager that always uses the newest files; empty if clients need no certificate. */
  public Optional<X509ExtendedTrustManager> trustManager() {
    return options
        .clientCa()
        .map(
            file -> new CurrentTrustManager(() -> identity.current().trustManager().orElseThrow()));
  }

  /**
   * Delegates to the current key manager. A handshake first asks for an alias and then for the
   * alias's key, so the previous manager is kept, too: a handshake that began with it finds its key
   * by its unique alias.
   */
  private static final class CurrentKeyManager extends X509ExtendedKeyManager {

    private record Known(X509ExtendedKeyManager newest, X509ExtendedKeyManager before) {

      X509ExtendedKeyManager of(String alias) {
        return newest.getPrivateKey(alias) != null ? newest : before;
      }
    }

    private final Supplier<X509ExtendedKeyManager> current;
    private volatile Known known;

    CurrentKeyManager(Supplier<X509ExtendedKeyManager> current) {
      this.current = current;
      X509ExtendedKeyManager first = current.get();
      known = new Known(first, first);
    }

    private X509ExtendedKeyManager newest() {
      X509ExtendedKeyManager now = current.get();
      if (known.newest != now) {
        synchronized (this) {
          if (known.newest != now) {
            known = new Known(now, known.newest);
          }
        }
      }
      return now;
    }

    @Override
    public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
      return newest().chooseEngineServerAlias(keyType, issuers, engine);
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
      return newest().chooseServerAlias(keyType, issuers, socket);
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
      return newest().getServerAliases(keyType, issuers);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return known.of(alias).getCertificateChain(alias);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return known.of(alias).getPrivateKey(alias);
    }

    @Override
    public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
      return newest().chooseEngineClientAlias(types, issuers, engine);
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      return newest().chooseClientAlias(types, issuers, socket);
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
      return newest().getClientAliases(keyType, issuers);
    }
  }

  /** Delegates to the current trust manager. */
  private static final class CurrentTrustManager extends X509ExtendedTrustManager {

    private final Supplier<X509ExtendedTrustManager> current;

    CurrentTrustManager(Supplier<X509ExtendedTrustManager> current) {
      this.current = current;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      current.get().checkClientTrusted(chain, type, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      current.get().checkClientTrusted(chain, type, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      current.get().checkClientTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      current.get().checkServerTrusted(chain, type, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      current.get().checkServerTrusted(chain, type, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      current.get().checkServerTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return current.get().getAcceptedIssuers();
    }
  }
}
