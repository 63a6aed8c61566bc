package io.nereid.server.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * Passes every question on to the key manager of the moment. A handshake asks several times, first
 * for an alias and then for what belongs to it: the one before is still known by its own alias.
 */
final class CurrentKeyManager extends X509ExtendedKeyManager {

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
