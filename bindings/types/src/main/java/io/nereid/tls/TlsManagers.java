package io.nereid.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** Makes of certificates and keys what the JDK encrypts connections with. */
public final class TlsManagers {

  private TlsManagers() {}

  /**
   * Shows one certificate, with those that lead to a root behind it.
   *
   * @param alias what handshakes know it by
   */
  public static X509ExtendedKeyManager showing(
      String alias, List<X509Certificate> chain, PrivateKey key) throws GeneralSecurityException {
    char[] password = {}; // the store never leaves this method
    KeyStore store = emptyStore();
    store.setKeyEntry(alias, key, password, chain.toArray(Certificate[]::new));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, password);
    return first(factory.getKeyManagers(), X509ExtendedKeyManager.class);
  }

  /** Trusts whom these certificates lead to. */
  public static X509ExtendedTrustManager trusting(List<X509Certificate> roots)
      throws GeneralSecurityException {
    KeyStore store = emptyStore();
    for (int i = 0; i < roots.size(); i++) {
      store.setCertificateEntry("ca" + i, roots.get(i));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(store);
    return first(factory.getTrustManagers(), X509ExtendedTrustManager.class);
  }

  private static KeyStore emptyStore() throws GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try {
      store.load(null, null);
    } catch (IOException e) {
      throw new AssertionError("nothing is read", e);
    }
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
