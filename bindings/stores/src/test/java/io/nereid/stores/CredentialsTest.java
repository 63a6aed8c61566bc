package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each place where credentials are looked for. A server of this machine stands for the services
 * that clouds have for their machines and pods.
 */
class CredentialsTest {

  private static final String LATER = "\"2100-01-01T00:00:00Z\"";

  @TempDir Path home;
  private HttpServer server;
  private String here;

  /** The answers by method and path; all else is not found. */
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  /** The requests with what was sent along. */
  private final List<String> asked = new CopyOnWriteArrayList<>();

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    here = "127.0.0.1:" + server.getAddress().getPort();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String request = exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
    String sent = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String headers =
        exchange.getRequestHeaders().entrySet().stream()
            .map(header -> header.getKey().toLowerCase() + "=" + header.getValue().getFirst())
            .sorted()
            .toList()
            .toString();
    asked.add(request + "?" + exchange.getRequestURI().getRawQuery() + " " + headers + " " + sent);
    byte[] answer = Fixture.bytes(answers.getOrDefault(request, ""));
    exchange.sendResponseHeaders(answers.containsKey(request) ? 200 : 404, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private void assertAsked(int number, String... parts) {
    for (String part : parts) {
      assertTrue(asked.get(number).contains(part), part + " in " + asked);
    }
  }

  private Dialect dialect(String url, String... variables) throws IOException {
    Map<String, String> environment = new HashMap<>(Map.of("HOME", home.toString()));
    for (int i = 0; i < variables.length; i += 2) {
      environment.put(variables[i], variables[i + 1]);
    }
    SmallHttp http = new SmallHttp(CompletableFuture.completedFuture(HttpClient.newHttpClient()));
    return Dialects.of(StoreUrl.parse(url), environment, http);
  }

  private static Map<String, String> signed(Dialect dialect) throws IOException {
    return signed(dialect, 0);
  }

  /** The headers that a request will have in some seconds. */
  private static Map<String, String> signed(Dialect dialect, long seconds) throws IOException {
    Instant then = Instant.now().plusSeconds(seconds);
    return dialect.sign("GET", dialect.object("k"), Map.of(), then);
  }

  private static void assertKey(String id, String token, Dialect dialect) throws IOException {
    Map<String, String> headers = signed(dialect);
    String credential = headers.getOrDefault("authorization", "");
    assertTrue(credential.contains("Credential=" + id + "/"), headers.toString());
    assertEquals(token, headers.get("x-amz-security-token"));
  }

  private static void assertRegion(String region, Dialect dialect) throws IOException {
    String credential = signed(dialect).get("authorization");
    assertTrue(credential.contains("/" + region + "/s3/aws4_request"), credential);
  }

  private Path write(String name, String text) throws IOException {
    Files.createDirectories(home.resolve(name).getParent());
    return Files.writeString(home.resolve(name), text);
  }

  // ---- Amazon ----------------------------------------------------------------------------------

  @Test
  void amazonsVariablesComeBeforeItsFileAndTritonsFileBeforeBoth() throws IOException {
    write(
        ".aws/credentials",
        """
        [default]
        aws_access_key_id = plain
        aws_secret_access_key = s
        [work]
        aws_access_key_id=work
        aws_secret_access_key=s
        aws_session_token=t
        """);
    assertKey("plain", null, dialect("s3://b/p"));
    assertKey("work", "t", dialect("s3://b/p", "AWS_PROFILE", "work"));
    String[] variables = {
      "AWS_ACCESS_KEY_ID",
      "id",
      "AWS_SECRET_ACCESS_KEY",
      "s",
      "AWS_SESSION_TOKEN",
      "session",
      "",
      ""
    };
    assertKey("id", "session", dialect("s3://b/p", variables));
    Path triton =
        write(
            "triton.json",
            """
            {"s3": {"s3://b": {"key_id": "ours", "secret_key": "s", "session_token": "u", "region": "eu-north-1"},
                    "s3://b/deep": {"profile": "work"}}}
            """);
    variables[6] = "TRITON_CLOUD_CREDENTIAL_PATH";
    variables[7] = triton.toString();
    assertKey("ours", "u", dialect("s3://b/p", variables));
    assertRegion("eu-north-1", dialect("s3://b/p", variables));
    assertKey("work", "t", dialect("s3://b/deep/p", variables));
    assertKey("id", "session", dialect("s3://other/p", variables));
  }

  @Test
  void aRegionComesFromVariablesTheFileOrTheStore() throws IOException {
    write(".aws/credentials", "[default]\naws_access_key_id=k\naws_secret_access_key=s\n");
    assertRegion("us-east-1", dialect("s3://b/p"));
    write(".aws/config", "[default]\nregion = eu-west-1\n[profile far]\nregion = us-west-2\n");
    assertRegion("eu-west-1", dialect("s3://b/p"));
    assertRegion("ap-1", dialect("s3://b/p", "AWS_DEFAULT_REGION", "ap-1"));
    String[] both = {"AWS_DEFAULT_REGION", "ap-1", "AWS_REGION", "ap-2"};
    assertRegion("ap-2", dialect("s3://b/p", both));
    Dialect moved = dialect("s3://b/p");
    assertTrue(moved.refused(Map.of("x-amz-bucket-region", "eu-west-3")));
    assertRegion("eu-west-3", moved);
  }

  @Test
  void aPodOfAmazonsShowsItsToken() throws IOException {
    answers.put(
        "POST /",
        "<R><Credentials><AccessKeyId>web</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
            + "<SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>"
            + "</Credentials></R>");
    Path token = write("token", "pod's\n");
    assertKey(
        "web",
        "t",
        dialect(
            "s3://b/p",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            token.toString(),
            "AWS_ROLE_ARN",
            "arn:aws:iam::1:role/r",
            "AWS_ENDPOINT_URL_STS",
            "http://" + here));
    assertAsked(
        0,
        "Action=AssumeRoleWithWebIdentity",
        "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr",
        "WebIdentityToken=pod%27s ");
  }

  @Test
  void aContainerOfAmazonsAsksWithItsToken() throws IOException {
    answers.put("GET /keys", key("task", "t", LATER));
    Path token = write("token", "container's\n");
    String[] variables = {
      "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://" + here + "/keys",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN", "plain",
      "", ""
    };
    assertKey("task", "t", dialect("s3://b/p", variables));
    assertAsked(0, "authorization=plain");
    variables[4] = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
    variables[5] = token.toString();
    assertKey("task", "t", dialect("s3://b/p", variables));
    assertAsked(1, "authorization=container's");
    // A server that the URL names is not Amazon's, and is told nothing of the machine.
    assertFalse(signed(dialect("s3://" + here + "/b/p", variables)).containsKey("authorization"));
  }

  private static String key(String id, String token, String expires) {
    return "{\"Code\": \"Success\", \"AccessKeyId\": \"%s\", \"SecretAccessKey\": \"secret\", \"Token\": \"%s\", \"Expiration\": %s}"
        .formatted(id, token, expires);
  }

  @Test
  void aMachineOfAmazonsHasARoleWhoseKeysAreAskedForAnew() throws IOException {
    String[] variables = {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://" + here};
    String roles = "GET /latest/meta-data/iam/security-credentials/";
    assertFalse(signed(dialect("s3://b/p", variables)).containsKey("authorization"));
    answers.put("PUT /latest/api/token", "session");
    answers.put(roles, "role\n");
    answers.put(roles + "role", key("first", "t", LATER));
    Dialect dialect = dialect("s3://b/p", variables);
    asked.clear();
    assertKey("first", "t", dialect);
    assertKey("first", "t", dialect);
    assertEquals(3, asked.size(), asked.toString());
    assertAsked(0, "x-aws-ec2-metadata-token-ttl-seconds=21600");
    assertAsked(1, "x-aws-ec2-metadata-token=session");
    assertAsked(2, "x-aws-ec2-metadata-token=session");
    answers.put(roles + "role", key("second", "t", "\"" + Instant.now().plusSeconds(60) + "\""));
    assertTrue(dialect.refused(Map.of()));
    assertKey("second", "t", dialect);
    answers.put(roles + "role", key("third", "t", LATER)); // the second one is about to end
    assertKey("third", "t", dialect);
    String[] off = {variables[0], variables[1], "AWS_EC2_METADATA_DISABLED", "true"};
    assertFalse(signed(dialect("s3://b/p", off)).containsKey("authorization"));
  }

  @Test
  void aMachineOfAmazonsThatHadNoAnswerIsAskedAgainAndItsEarlierKeysStay() throws IOException {
    String[] variables = {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://" + here};
    String role = "GET /latest/meta-data/iam/security-credentials/role";
    Dialect dialect = dialect("s3://b/p", variables);
    assertFalse(signed(dialect).containsKey("authorization"));
    answers.put("PUT /latest/api/token", "session");
    answers.put("GET /latest/meta-data/iam/security-credentials/", "role");
    answers.put(role, "{\"Code\": \"Failed\"}");
    assertFalse(signed(dialect, 70).containsKey("authorization"));
    answers.put(role, key("first", "t", "\"" + Instant.now().plusSeconds(3600) + "\""));
    assertFalse(signed(dialect, 100).containsKey("authorization")); // it was asked a while ago
    assertTrue(signed(dialect, 140).get("authorization").contains("Credential=first/"));
    answers.remove(role);
    assertTrue(signed(dialect, 3550).get("authorization").contains("Credential=first/"));
    assertTrue(dialect.refused(Map.of()));
    assertTrue(signed(dialect, 200).get("authorization").contains("Credential=first/"));
    assertFalse(signed(dialect, 3700).containsKey("authorization")); // they have ended
    answers.put(role, key("second", "t", LATER));
    assertTrue(signed(dialect, 3770).get("authorization").contains("Credential=second/"));
  }

  /** The whole way, with signatures that a server checks. */
  @Test
  void theKeysOfAMachineOpenAStoreThatTheVariablesName() throws Exception {
    String roles = "GET /latest/meta-data/iam/security-credentials/";
    answers.put("PUT /latest/api/token", "session");
    answers.put(roles, "role");
    answers.put(roles + "role", key("key", "", LATER));
    try (S3Server store = S3Server.start()) {
      Fixture.putIdentity(store, "a", 1);
      StoreOptions options =
          StoreOptions.builder()
              .repository("s3://" + S3Server.BUCKET + "/models")
              .cacheDirectory(home.resolve("cache"))
              .environment(
                  Map.of(
                      "AWS_ENDPOINT_URL_S3", "http://127.0.0.1:" + store.port() + "/",
                      "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://" + here,
                      "HOME", home.toString()))
              .build();
      try (Nereid nereid =
          Nereid.open(
              RepositoryOptions.builder()
                  .store(RemoteModelStore.open(options, Duration.ofSeconds(5)))
                  .build())) {
        assertTrue(Fixture.answers(nereid, "a"));
      }
    }
  }

  // ---- Google ----------------------------------------------------------------------------------

  private static void assertBearer(String token, Dialect dialect) throws IOException {
    assertEquals("Bearer " + token, signed(dialect).get("authorization"));
  }

  private static String token(String text) {
    return "{\"access_token\": \"" + text + "\", \"expires_in\": 3600, \"token_type\": \"Bearer\"}";
  }

  @Test
  void aUserOfGoogleHasATokenThatIsRenewed() throws IOException {
    answers.put("POST /token", token("user"));
    Path account =
        write(
            "user.json",
            """
            {"type": "authorized_user", "client_id": "c/d", "client_secret": "s", "refresh_token": "r",
             "token_uri": "http://%s/token"}
            """
                .formatted(here));
    Dialect dialect = dialect("gs://b/p", "GOOGLE_APPLICATION_CREDENTIALS", account.toString());
    assertBearer("user", dialect);
    assertAsked(0, "grant_type=refresh_token&client_id=c%2Fd&client_secret=s&refresh_token=r");
    answers.put("POST /token", token("new"));
    assertBearer("user", dialect);
    assertTrue(dialect.refused(Map.of()));
    assertBearer("new", dialect);
  }

  @Test
  void aMachineOfGooglesHasAnAccount() throws IOException {
    String[] variables = {"GCE_METADATA_HOST", here};
    assertFalse(signed(dialect("gs://b/p", variables)).containsKey("authorization"));
    String place = "/computeMetadata/v1/instance/service-accounts/default/token";
    answers.put("GET " + place, token("machine"));
    assertBearer("machine", dialect("gs://b/p", variables));
    assertAsked(1, "metadata-flavor=Google");
  }

  @Test
  void aMachineOfGooglesThatHadNoAnswerIsAskedAgainAndItsEarlierTokenStays() throws IOException {
    String place = "GET /computeMetadata/v1/instance/service-accounts/default/token";
    Dialect dialect = dialect("gs://b/p", "GCE_METADATA_HOST", here);
    assertFalse(signed(dialect).containsKey("authorization"));
    answers.put(place, token("machine"));
    assertFalse(signed(dialect, 30).containsKey("authorization")); // it was asked a while ago
    assertEquals("Bearer machine", signed(dialect, 70).get("authorization"));
    answers.remove(place);
    assertEquals("Bearer machine", signed(dialect, 3600).get("authorization"));
    assertFalse(signed(dialect, 3700).containsKey("authorization")); // it has ended
  }

  // ---- Azure -----------------------------------------------------------------------------------

  @Test
  void anAccountOfAzureHasAKeyOrASignedAddress() throws IOException {
    String[] variables = {
      "AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=x", "AZURE_STORAGE_ACCOUNT", "acc", "", ""
    };
    URI address = dialect("as://acc/c/p", variables).object("k");
    assertEquals("https://acc.blob.core.windows.net/c/k?sv=1&sig=x", address.toString());
    variables[4] = "AZURE_STORAGE_KEY";
    variables[5] = "a2V5";
    Dialect dialect = dialect("as://acc/c/p", variables);
    assertTrue(signed(dialect).get("authorization").startsWith("SharedKey acc:"));
    assertEquals("https://acc.blob.core.windows.net/c/k", dialect.object("k").toString());
    // The key of another account is not for this one.
    assertFalse(signed(dialect("as://other/c/p", variables)).containsKey("authorization"));
    Path triton =
        write(
            "triton.json",
            "{\"as\": {\"as://other\": {\"account_str\": \"other\", \"account_key\": \"a2V5\"}}}");
    dialect = dialect("as://other/c/p", "TRITON_CLOUD_CREDENTIAL_PATH", triton.toString());
    assertTrue(signed(dialect).get("authorization").startsWith("SharedKey other:"));
  }

  @Test
  void aPodOfAzuresShowsItsToken() throws IOException {
    answers.put("POST /tenant/oauth2/v2.0/token", token("pod"));
    Path file = write("token", "federated\n");
    assertBearer(
        "pod",
        dialect(
            "as://acc/c/p",
            "AZURE_FEDERATED_TOKEN_FILE",
            file.toString(),
            "AZURE_TENANT_ID",
            "tenant",
            "AZURE_CLIENT_ID",
            "client",
            "AZURE_AUTHORITY_HOST",
            "http://" + here + "/"));
    assertAsked(
        0,
        "grant_type=client_credentials&client_id=client",
        "scope=https%3A%2F%2Fstorage.azure.com%2F.default",
        "client_assertion=federated");
  }

  @Test
  void aMachineOfAzuresHasAnIdentity() throws IOException {
    answers.put("GET /metadata/identity/oauth2/token", token("machine"));
    String[] variables = {
      "AZURE_CLIENT_ID", "client", "AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://" + here
    };
    Dialect dialect = dialect("as://acc/c/p", variables);
    assertBearer("machine", dialect);
    assertAsked(0, "resource=https%3A%2F%2Fstorage.azure.com%2F&client_id=client", "metadata=true");
    answers.put("GET /metadata/identity/oauth2/token", token("new"));
    assertTrue(dialect.refused(Map.of()));
    assertBearer("new", dialect);
  }
}
