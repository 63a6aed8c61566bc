package io.nereid.server.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.tls.TestCertificates.Identity;
import io.nereid.types.NereidException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509ExtendedKeyManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates and keys in all their forms, and their renewal. */
class TlsSettingsTest {

  @TempDir private Path directory;

  private Path certificate(Identity identity) throws Exception {
    return identity.writeCertificate(directory.resolve("cert.pem"));
  }

  private Path key(String text) throws Exception {
    return Files.writeString(directory.resolve("key.pem"), text);
  }

  private static PrivateKey served(TlsSettings settings, String type) {
    X509ExtendedKeyManager keys = settings.keyManager();
    String alias = keys.chooseEngineServerAlias(type, null, null);
    assertEquals(1, keys.getCertificateChain(alias).length);
    return keys.getPrivateKey(alias);
  }

  @Test
  void keysMayBePkcs8OrPkcs1() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    KeyPair keys = generator.generateKeyPair();
    Identity rsa = TestCertificates.signed("rsa", TestCertificates.authority("ca"), keys);
    byte[] pkcs8 = keys.getPrivate().getEncoded();
    ServerTlsOptions options =
        ServerTlsOptions.of(certificate(rsa), key(TestCertificates.pem("PRIVATE KEY", pkcs8)));
    assertEquals(keys.getPrivate(), served(TlsSettings.open(options), "RSA"));
    byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 26, pkcs8.length); // behind what names the algorithm
    key("a line of text\n" + TestCertificates.pem("RSA PRIVATE KEY", pkcs1));
    assertEquals(keys.getPrivate(), served(TlsSettings.open(options), "RSA"));
  }

  @Test
  void keysMayBeOfEllipticCurvesAsOpensslWritesThem() throws Exception {
    Identity ec = TestCertificates.signed("ec", TestCertificates.authority("ca"));
    byte[] secret = ((ECPrivateKey) ec.keys().getPrivate()).getS().toByteArray();
    byte[] padded = new byte[32];
    int count = Math.min(32, secret.length);
    System.arraycopy(secret, secret.length - count, padded, 32 - count, count);
    byte[] curve = {0x06, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 3, 1, 7};
    byte[] sec1 =
        Der.element(
            Der.SEQUENCE,
            new byte[] {Der.INTEGER, 1, 1},
            Der.element(Der.OCTET_STRING, padded),
            Der.element(0xa0, curve));
    String text =
        TestCertificates.pem("EC PARAMETERS", curve) + TestCertificates.pem("EC PRIVATE KEY", sec1);
    TlsSettings settings = TlsSettings.open(ServerTlsOptions.of(certificate(ec), key(text)));
    ECPrivateKey got = (ECPrivateKey) served(settings, "EC");
    assertEquals(((ECPrivateKey) ec.keys().getPrivate()).getS(), got.getS());
  }

  @Test
  void unusableFilesAreToldWithoutTheKey() throws Exception {
    Identity one = TestCertificates.authority("one");
    Identity other = TestCertificates.authority("other");
    Path certificate = certificate(one);
    String good = TestCertificates.pem("PRIVATE KEY", one.keys().getPrivate().getEncoded());
    assertRefused(certificate, "", "expected a block 'PRIVATE KEY'");
    assertRefused(certificate, good.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), "encrypted");
    assertRefused(certificate, good.replace("PRIVATE KEY", "EC PRIVATE KEY"), "EC or EdDSA key");
    assertRefused(certificate, good.substring(0, 90), "-----END PRIVATE KEY-----");
    assertRefused(certificate, good.replace("M", "!"), "Base64");
    assertRefused(
        certificate,
        TestCertificates.pem("PRIVATE KEY", other.keys().getPrivate().getEncoded()),
        "expected the key of the first certificate");
    assertRefused(certificate, TestCertificates.pem("PRIVATE KEY", new byte[20]), "RSA, EC");
    assertRefused(directory.resolve("key.pem"), good, "expected a block 'CERTIFICATE'");
    assertRefused(directory.resolve("none.pem"), good, "none.pem");
    Files.writeString(certificate, TestCertificates.pem("CERTIFICATE", new byte[20]));
    assertRefused(certificate, good, "one that is broken");
  }

  private void assertRefused(Path certificate, String key, String message) throws Exception {
    ServerTlsOptions options = ServerTlsOptions.of(certificate, key(key));
    NereidException e = assertThrows(NereidException.class, () -> TlsSettings.open(options));
    assertTrue(e.getMessage().contains(message), e.getMessage());
    assertFalse(key.length() > 90 && e.getMessage().contains(key.substring(40, 80)));
  }

  @Test
  void aRenewalCountsAndABrokenOneDoesNot() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Identity first = TestCertificates.signed("first", authority);
    Identity second = TestCertificates.signed("second", authority);
    Path certificate = certificate(first);
    Path key = first.writeKey(directory.resolve("key.pem"));
    TlsSettings settings = TlsSettings.open(ServerTlsOptions.of(certificate, key));
    X509ExtendedKeyManager keys = settings.keyManager();
    String alias = keys.chooseEngineServerAlias("EC", null, null);
    SSLContext before = settings.context();

    replace(certificate, TestCertificates.pem("CERTIFICATE", second.certificate().getEncoded()));
    long lookNs = System.nanoTime() + 1_500_000_000L;
    while (System.nanoTime() < lookNs) {
      assertSame(before, settings.context()); // the key is still the old one
      LockSupport.parkNanos(50_000_000);
    }

    replace(key, TestCertificates.pem("PRIVATE KEY", second.keys().getPrivate().getEncoded()));
    long deadlineNs = System.nanoTime() + 20_000_000_000L;
    while (settings.context() == before) {
      assertTrue(System.nanoTime() < deadlineNs, "the renewal does not count");
      LockSupport.parkNanos(20_000_000);
    }
    String next = keys.chooseEngineServerAlias("EC", null, null);
    assertNotEquals(alias, next);
    assertEquals(second.certificate(), keys.getCertificateChain(next)[0]);
    assertEquals(second.keys().getPrivate(), keys.getPrivateKey(next));
    // A handshake that was under way still has the certificate and the key of before.
    assertEquals(first.certificate(), keys.getCertificateChain(alias)[0]);
    assertEquals(first.keys().getPrivate(), keys.getPrivateKey(alias));
    assertNull(keys.getPrivateKey("none"));
  }

  private static void replace(Path file, String text) throws Exception {
    Path next = file.resolveSibling("next");
    Files.writeString(next, text);
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  @Test
  void enginesSpeakTheseVersionsAndAskClientsForCertificates() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Path certificate = certificate(authority);
    Path key = authority.writeKey(directory.resolve("key.pem"));
    TlsSettings open = TlsSettings.open(ServerTlsOptions.of(certificate, key));
    assertArrayEquals(
        new String[] {"TLSv1.3", "TLSv1.2"}, open.newEngine("http/1.1").getEnabledProtocols());
    assertFalse(open.newEngine().getWantClientAuth() || open.newEngine().getNeedClientAuth());
    assertTrue(open.trustManager().isEmpty());
    TlsSettings wanting =
        TlsSettings.open(
            ServerTlsOptions.of(
                certificate, key, certificate, ServerTlsOptions.ClientCertificate.OPTIONAL));
    assertTrue(wanting.newEngine().getWantClientAuth());
    TlsSettings needing =
        TlsSettings.open(
            ServerTlsOptions.of(
                certificate, key, certificate, ServerTlsOptions.ClientCertificate.REQUIRED));
    assertTrue(needing.newEngine().getNeedClientAuth());
    assertEquals(
        authority.certificate(), needing.trustManager().orElseThrow().getAcceptedIssuers()[0]);
  }
}
