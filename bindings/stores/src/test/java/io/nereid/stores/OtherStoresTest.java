package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.nereid.Nereid;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores beside Amazon's. Google's own server cannot be had: its protocol is Amazon's with a token,
 * which S3Proxy and a service for tokens stand for. Azure's is Microsoft's emulator.
 */
class OtherStoresTest {

  @TempDir Path directory;

  private Nereid open(String url, Map<String, String> environment, Path authority) {
    ModelStore store = store(url, environment, authority);
    return Nereid.open(RepositoryOptions.builder().store(store).build());
  }

  private ModelStore store(String url, Map<String, String> environment, Path authority) {
    StoreOptions options =
        StoreOptions.builder()
            .repository(url)
            .cacheDirectory(directory.resolve("cache"))
            .environment(environment)
            .authority(authority)
            .build();
    return RemoteModelStore.open(options, Duration.ofMinutes(1));
  }

  // ---- Amazon, by another server ---------------------------------------------------------------

  @Test
  void adobesServerIsServed() throws Exception {
    Path log = Files.createFile(directory.resolve("log"));
    Process mock =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-jar",
                "target/test-servers/s3mock.jar",
                "--server.port=0",
                "--com.adobe.testing.s3mock.httpPort=0")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      Matcher started = Pattern.compile("started on ports .* (\\d+) \\(http\\)").matcher("");
      while (!started.find()) {
        assertTrue(mock.isAlive(), () -> "it ended: " + log);
        Thread.sleep(50);
        started.reset(Files.readString(log));
      }
      String bucket = "127.0.0.1:" + started.group(1) + "/bucket";
      put(bucket, new byte[0]);
      put(bucket + "/models/a/config.pbtxt", Fixture.bytes(Fixture.IDENTITY));
      put(bucket + "/models/a/1/weights.bin", new byte[20_000_000]);
      RepositoryOptions.Builder options =
          RepositoryOptions.builder()
              .store(store("s3://" + bucket + "/models", S3Server.environment(), null))
              .poll(Duration.ofDays(1));
      try (Nereid nereid = Nereid.open(options.build())) {
        assertTrue(Fixture.answers(nereid, "a"));
        ModelStore store = nereid.repository().options().store();
        long before = store.status().getFirst().fetchedBytes();
        put(bucket + "/models/a/2/weights.bin", Fixture.bytes("second"));
        put(bucket + "/models/b+c=d/1/weights.bin", new byte[20_000_000]);
        put(bucket + "/models/b+c=d/config.pbtxt", Fixture.bytes(Fixture.IDENTITY));
        nereid.repository().poll();
        assertEquals(2, nereid.model("a").version());
        assertEquals(before + "second".length(), store.status().getFirst().fetchedBytes());
        assertEquals(0, store.status().getFirst().faultCount());
      }
    } finally {
      mock.destroy();
    }
  }

  private static void put(String name, byte[] content) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + name.replace(" ", "%20")))
            .PUT(HttpRequest.BodyPublishers.ofByteArray(content))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      assertEquals(200, client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
    }
  }

  // ---- Google ----------------------------------------------------------------------------------

  @Test
  void aServiceAccountOfGoogleAsksWithAToken() throws Exception {
    KeyPair keys = KeyPairGenerator.getInstance("RSA").generateKeyPair();
    AtomicReference<String> form = new AtomicReference<>();
    HttpServer tokens =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    tokens.createContext(
        "/token",
        exchange -> {
          form.set(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          byte[] answer = Fixture.bytes("{\"access_token\": \"abc\", \"expires_in\": 3600}");
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    tokens.start();
    String pem = Base64.getMimeEncoder().encodeToString(keys.getPrivate().getEncoded());
    Path account = directory.resolve("account.json");
    Files.writeString(
        account,
        """
        {"type": "service_account", "client_email": "a@b", "token_uri": "http://127.0.0.1:%d/token",
         "private_key": "-----BEGIN PRIVATE KEY-----\\n%s\\n-----END PRIVATE KEY-----\\n"}
        """
            .formatted(tokens.getAddress().getPort(), pem.replace("\r\n", "\\n")));
    Path triton = directory.resolve("triton.json");
    Files.writeString(
        triton,
        "{\"gs\": {\"\": \"/none\", \"gs://127.0.0.1:1/other\": \"/none\", \"gs://\": \"%s\"}}"
            .formatted(account));
    try (S3Server server = S3Server.startOpen();
        FaultProxy proxy = new FaultProxy(server.port(), 1, 0)) {
      Fixture.putIdentity(server, "a", 1);
      String url = "gs://http://127.0.0.1:" + proxy.port() + "/" + S3Server.BUCKET + "/models";
      for (Map<String, String> environment :
          java.util.List.of(
              Map.of("GOOGLE_APPLICATION_CREDENTIALS", account.toString()),
              Map.of("TRITON_CLOUD_CREDENTIAL_PATH", triton.toString()))) {
        try (Nereid nereid = open(url, environment, null)) {
          assertTrue(Fixture.answers(nereid, "a"));
        }
        assertTrue(
            proxy.lastHead().toLowerCase().contains("authorization: bearer abc"), proxy.lastHead());
        String[] parts = form.get().replaceFirst(".*assertion=", "").split("\\.");
        Signature check = Signature.getInstance("SHA256withRSA");
        check.initVerify(keys.getPublic());
        check.update(Fixture.bytes(parts[0] + "." + parts[1]));
        assertTrue(check.verify(Base64.getUrlDecoder().decode(parts[2])));
      }
    } finally {
      tokens.stop(0);
    }
  }

  // ---- TLS -------------------------------------------------------------------------------------

  @Test
  void aPrivateAuthorityIsTrustedWhenItIsNamed() throws Exception {
    Path store = directory.resolve("server.p12");
    Path pem = directory.resolve("ca.pem");
    keytool(
        "-genkeypair -alias s -keyalg EC -dname CN=127.0.0.1 -ext san=ip:127.0.0.1 -storetype PKCS12"
            + " -storepass password -keystore "
            + store);
    keytool("-exportcert -rfc -alias s -storepass password -keystore " + store + " -file " + pem);
    try (S3Server server = S3Server.startTls(store, "password")) {
      Fixture.putIdentity(server, "a", 1);
      String url = server.url("models").replace("s3://", "s3://https://");
      try (Nereid nereid = open(url, S3Server.environment(), pem)) {
        assertTrue(Fixture.answers(nereid, "a"));
      }
      Map<String, String> environment = new HashMap<>(S3Server.environment());
      environment.put("AWS_CA_BUNDLE", pem.toString());
      open(url, environment, null).close();
      String other = url.replace("/models", "/others");
      assertThrows(NereidException.class, () -> open(other, S3Server.environment(), null));
    }
  }

  private static void keytool(String arguments) throws IOException, InterruptedException {
    Path tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    Process process =
        new ProcessBuilder((tool + " " + arguments).split(" ")).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
  }

  // ---- Azure -----------------------------------------------------------------------------------

  @Test
  void azuresEmulatorIsServed() throws Exception {
    String program = System.getenv().getOrDefault("AZURITE", "azurite-blob");
    Process azurite;
    try {
      azurite =
          new ProcessBuilder(
                  program,
                  "--blobPort",
                  "0",
                  "--inMemoryPersistence",
                  "--skipApiVersionCheck",
                  "--disableTelemetry")
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      Assumptions.abort("npm's azurite is not there: name its azurite-blob in AZURITE");
      return;
    }
    try (var output = azurite.inputReader()) {
      String line = output.readLine();
      while (line != null && !line.contains("listens on")) {
        line = output.readLine();
      }
      String host = line.replaceFirst(".*http://", "").strip();
      AzureBlobs blobs = new AzureBlobs(URI.create("http://" + host));
      blobs.put("models", new byte[0]);
      blobs.put("models/prefix/a/config.pbtxt", Fixture.bytes(Fixture.IDENTITY));
      blobs.put("models/prefix/a/1/weights.bin", new byte[9_000_000]);
      String url = "as://http://" + host + "/" + AzureBlobs.ACCOUNT + "/models/prefix";
      Map<String, String> environment =
          Map.of("AZURE_STORAGE_ACCOUNT", AzureBlobs.ACCOUNT, "AZURE_STORAGE_KEY", AzureBlobs.KEY);
      try (Nereid nereid = open(url, environment, null)) {
        assertTrue(Fixture.answers(nereid, "a"));
      }
      Map<String, String> wrong = new HashMap<>(environment);
      wrong.put("AZURE_STORAGE_KEY", Base64.getEncoder().encodeToString(new byte[64]));
      NereidException e =
          assertThrows(
              NereidException.class, () -> open(url.replace("/prefix", "/other"), wrong, null));
      assertTrue(e.getMessage().contains("403 (AuthorizationFailure)"), e.getMessage());
    } finally {
      azurite.destroy();
    }
  }
}
