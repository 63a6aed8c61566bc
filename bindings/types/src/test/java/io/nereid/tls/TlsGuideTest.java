package io.nereid.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example that the package shows in its documentation. */
class TlsGuideTest {

  @TempDir private Path directory;

  /** A certificate that signed itself, by the JDK's tool. */
  private Path certificate() throws Exception {
    Path store = directory.resolve("keys.p12");
    Path file = directory.resolve("ca.pem");
    keytool(store, "-genkeypair", "-keyalg", "EC", "-dname", "CN=localhost");
    keytool(store, "-exportcert", "-rfc", "-file", file.toString());
    return file;
  }

  private static void keytool(Path store, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    command.addAll(List.of("-alias", "own", "-keystore", store.toString()));
    command.addAll(List.of("-storepass", "secret", "-storetype", "PKCS12"));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
  }

  @Test
  void aCertificateIsTrusted() throws Exception {
    Path file = certificate();
    assertEquals(1, Files.readString(file).split("BEGIN CERTIFICATE").length - 1);
    // @start region="trust"
    List<X509Certificate> roots = PemFile.read(file).certificates();
    X509TrustManager trust = TlsManagers.trusting(roots);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new X509TrustManager[] {trust}, null);
    // @end
    assertEquals(roots, List.of(trust.getAcceptedIssuers()));
  }
}
