package io.nereid.server.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Makes certificates for tests, for localhost and 127.0.0.1. */
public final class TestCertificates {

  private static final int BIT_STRING = 0x03;
  private static final int UTF8_STRING = 0x0c;
  private static final int SET = 0x31;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int EXPLICIT_0 = 0xa0;
  private static final int EXPLICIT_3 = 0xa3;

  private static final byte[] COMMON_NAME = {0x06, 3, 0x55, 4, 3};
  private static final byte[] BASIC_CONSTRAINTS = {0x06, 3, 0x55, 0x1d, 0x13};
  private static final byte[] SUBJECT_ALTERNATIVE_NAME = {0x06, 3, 0x55, 0x1d, 0x11};
  private static final byte[] TRUE = {0x01, 1, -1};

  /** ecdsa-with-SHA256. */
  private static final byte[] SIGNATURE_ALGORITHM =
      Der.element(
          Der.SEQUENCE, new byte[] {0x06, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2});

  private static final AtomicLong SERIAL = new AtomicLong(1000);

  private TestCertificates() {}

  /** A certificate and its key. */
  public record Identity(X509Certificate certificate, KeyPair keys) {

    /** Writes the certificate as PEM. */
    public Path writeCertificate(Path file) throws IOException, GeneralSecurityException {
      return Files.writeString(file, pem("CERTIFICATE", certificate.getEncoded()));
    }

    /** Writes the key as PEM, in the form of PKCS #8. */
    public Path writeKey(Path file) throws IOException {
      return Files.writeString(file, pem("PRIVATE KEY", keys.getPrivate().getEncoded()));
    }
  }

  /** One that others may be signed with. */
  public static Identity authority(String name) throws GeneralSecurityException {
    return make(name, null, ec());
  }

  /** The files of a server whose certificate an authority signs, made in a directory. */
  public static ServerTlsOptions server(Identity authority, Path directory)
      throws IOException, GeneralSecurityException {
    Identity own = signed("server", authority);
    return ServerTlsOptions.of(
        own.writeCertificate(directory.resolve("cert.pem")),
        own.writeKey(directory.resolve("key.pem")));
  }

  /** One that is signed by an authority. */
  public static Identity signed(String name, Identity authority) throws GeneralSecurityException {
    return make(name, authority, ec());
  }

  /** As {@link #signed}, with a key of its own kind. */
  public static Identity signed(String name, Identity authority, KeyPair keys)
      throws GeneralSecurityException {
    return make(name, authority, keys);
  }

  private static KeyPair ec() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    return generator.generateKeyPair();
  }

  private static Identity make(String name, Identity authority, KeyPair keys)
      throws GeneralSecurityException {
    byte[] subject = name(name);
    byte[] issuer =
        authority == null ? subject : authority.certificate.getSubjectX500Principal().getEncoded();
    Instant now = Instant.now();
    byte[] validity =
        Der.element(Der.SEQUENCE, time(now.minusSeconds(3600)), time(now.plusSeconds(86_400)));
    byte[] body =
        Der.element(
            Der.SEQUENCE,
            Der.element(EXPLICIT_0, new byte[] {Der.INTEGER, 1, 2}),
            Der.element(Der.INTEGER, BigInteger.valueOf(SERIAL.incrementAndGet()).toByteArray()),
            SIGNATURE_ALGORITHM,
            issuer,
            validity,
            subject,
            keys.getPublic().getEncoded(),
            Der.element(EXPLICIT_3, Der.element(Der.SEQUENCE, extension(authority == null))));
    PrivateKey signer = authority == null ? keys.getPrivate() : authority.keys.getPrivate();
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(signer);
    signature.update(body);
    byte[] der =
        Der.element(
            Der.SEQUENCE,
            body,
            SIGNATURE_ALGORITHM,
            Der.element(BIT_STRING, new byte[1], signature.sign()));
    Certificate certificate =
        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    return new Identity((X509Certificate) certificate, keys);
  }

  private static byte[] name(String name) {
    byte[] text = Der.element(UTF8_STRING, name.getBytes(StandardCharsets.UTF_8));
    return Der.element(
        Der.SEQUENCE, Der.element(SET, Der.element(Der.SEQUENCE, COMMON_NAME, text)));
  }

  private static byte[] time(Instant instant) {
    String text =
        DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").format(instant.atOffset(ZoneOffset.UTC));
    return Der.element(GENERALIZED_TIME, text.getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] extension(boolean authority) {
    if (authority) {
      return Der.element(
          Der.SEQUENCE,
          BASIC_CONSTRAINTS,
          TRUE,
          Der.element(Der.OCTET_STRING, Der.element(Der.SEQUENCE, TRUE)));
    }
    byte[] names =
        Der.element(
            Der.SEQUENCE,
            Der.element(0x82, "localhost".getBytes(StandardCharsets.US_ASCII)),
            Der.element(0x87, new byte[] {127, 0, 0, 1}));
    return Der.element(
        Der.SEQUENCE, SUBJECT_ALTERNATIVE_NAME, Der.element(Der.OCTET_STRING, names));
  }

  /** A block of a PEM file. */
  public static String pem(String label, byte[] der) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    text.writeBytes(("-----BEGIN " + label + "-----\n").getBytes(StandardCharsets.US_ASCII));
    text.writeBytes(Base64.getMimeEncoder(64, new byte[] {'\n'}).encode(der));
    text.writeBytes(("\n-----END " + label + "-----\n").getBytes(StandardCharsets.US_ASCII));
    return text.toString(StandardCharsets.US_ASCII);
  }

  /** For clients that trust an authority, and show a certificate unless {@code own} is null. */
  public static SSLContext client(Identity authority, Identity own)
      throws GeneralSecurityException, IOException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("ca", authority.certificate);
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    KeyManagerFactory keys = null;
    if (own != null) {
      char[] password = {};
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      Certificate[] chain = {own.certificate};
      store.setKeyEntry("own", own.keys.getPrivate(), password, chain);
      keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, password);
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }
}
