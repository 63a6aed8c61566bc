package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.shared.ForwardedLog;
import io.nereid.server.shared.ReloadedFiles;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Restricted groups and tokens over sockets. */
class AccessTest {

  private static final byte[] NOTHING = {};

  private static final byte[] BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}"
          .getBytes(StandardCharsets.US_ASCII);

  private static TestServer restricted(String... restrictions) {
    return new TestServer(
        HttpOptions.DEFAULT.withAccess(
            AccessControl.of(Restrictions.forHttp(List.of(restrictions)), Optional.empty())));
  }

  private static TestServer withTokens(Path file) {
    return new TestServer(
        HttpOptions.DEFAULT.withAccess(
            AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)))));
  }

  private static RawClient.Response get(RawClient client, String path, String fields)
      throws IOException {
    return client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n").receive();
  }

  @ParameterizedTest
  @CsvSource({
    "health, GET, /v2/health/live",
    "health, GET, /v2/health/ready",
    "health, GET, /v2/models/FP32/ready",
    "metadata, GET, /v2",
    "metadata, GET, /v2/models",
    "metadata, GET, /v2/models/FP32",
    "inference, POST, /v2/models/FP32/infer",
    "model-config, GET, /v2/models/FP32/config",
    "statistics, GET, /v2/models/stats",
    "statistics, GET, /v2/models/FP32/versions/1/stats",
    "model-repository, POST, /v2/repository/index",
    "model-repository, POST, /v2/repository/models/FP32/load",
    "model-repository, POST, /v2/repository/models/FP32/unload",
    "logging, GET, /v2/logging",
    "logging, POST, /v2/logging",
    "trace, GET, /v2/trace/setting",
    "trace, POST, /v2/models/FP32/trace/setting",
    "shared-memory, GET, /v2/systemsharedmemory/status",
    "shared-memory, POST, /v2/systemsharedmemory/region/r/register",
    "shared-memory, POST, /v2/systemsharedmemory/unregister",
    "shared-memory, GET, /v2/cudasharedmemory/region/r/status"
  })
  void everyEndpointIsInItsGroup(String group, String method, String path) throws IOException {
    try (TestServer server = restricted(group + ":admin-key=secret").identity(DataType.FP32);
        RawClient client = server.connect()) {
      String head = method + " " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n";
      RawClient.Response refused = client.send(head + "\r\n").receive().expect(403);
      assertEquals(
          "{\"error\":\"This API is restricted, expecting header 'admin-key'\"}", refused.text());
      client.send(head + "Admin-Key: wrong\r\n\r\n").receive().expect(403);
      RawClient.Response allowed = client.send(head + "ADMIN-KEY: secret\r\n\r\n").receive();
      assertFalse(allowed.text().contains("restricted"), allowed.text());
      String other = group.equals("health") ? "/v2" : "/v2/health/live";
      client.get(other).expect(200);
    }
  }

  @Test
  void aRefusedBodyIsReadOverAndNothingElse() throws IOException {
    try (TestServer server = restricted("inference:k=v").identity(DataType.FP32);
        RawClient client = server.connect()) {
      String path = "/v2/models/FP32/infer";
      client.post(path, "", BODY).expect(403);
      client.post(path, "k: v\r\n", BODY).expect(200);
      client.post(path, "k: v\r\nk: w\r\n", BODY).expect(403);
      assertEquals(1, server.statistics("FP32").success().count());
      // What would be long to read over is not asked for.
      client.send(
          "POST "
              + path
              + " HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n");
      client.receive().expect(403);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void tokensAreWantedForEverythingButHealth(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("tokens");
    Files.writeString(file, "everything\nreader metadata,statistics\n");
    try (TestServer server = withTokens(file).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.get("/v2/health/live").expect(200);
      client.get("/v2/models/FP32/ready").expect(200);
      for (String path : List.of("/v2", "/v2/models/FP32/stats", "/none")) {
        RawClient.Response refused = client.get(path).expect(401);
        assertEquals("Bearer", refused.fields().get("www-authenticate"));
        get(client, path, "Authorization: Bearer wrong\r\n").expect(401);
      }
      get(client, "/v2", "Authorization: Bearer reader\r\n").expect(200);
      get(client, "/none", "Authorization: Bearer reader\r\n").expect(404);
      RawClient.Response other =
          get(client, "/v2/models/FP32/config", "Authorization: Bearer reader\r\n").expect(403);
      assertFalse(other.text().contains("reader"), other.text());
      client
          .post("/v2/models/FP32/infer", "Authorization: Bearer everything\r\n", BODY)
          .expect(200);
      client.post("/v2/models/FP32/infer", "", NOTHING).expect(401);
    }
  }

  @Test
  void aChangedFileCountsWithoutARestart(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("tokens");
    Files.writeString(file, "old-token\n");
    try (TestServer server = withTokens(file);
        RawClient client = server.connect()) {
      String old = "Authorization: Bearer old-token\r\n";
      get(client, "/v2", old).expect(200);
      replace(file, "two words too many\n");
      replace(file, "new-token\n");
      TestServer.await(
          () -> status(client, "Authorization: Bearer new-token\r\n") == 200,
          "the new token does not count");
      get(client, "/v2", old).expect(401);
    }
  }

  @Test
  void aPipeInPlaceOfTheFileHoldsUpNobody(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("tokens");
    Files.writeString(file, "old-token\n");
    try (TestServer server = withTokens(file);
        RawClient client = server.connect();
        ForwardedLog log = new ForwardedLog(ReloadedFiles.class)) {
      String old = "Authorization: Bearer old-token\r\n";
      Path pipe = directory.resolve("pipe");
      assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
      Files.move(pipe, file, StandardCopyOption.REPLACE_EXISTING);
      TestServer.await(
          () -> status(client, old) != 200 || !log.linesOfReads().isEmpty(),
          "nobody looked at the file");
      replace(file, "new-token\n");
      TestServer.await(
          () -> status(client, "Authorization: Bearer new-token\r\n") == 200,
          "the file that took the pipe's place does not count");
      TestServer.await(() -> log.linesOfReads().size() == 2, "not both reads were told");
      assertTrue(log.linesOfReads().getFirst().contains("expected a regular file"));
    }
  }

  private static void replace(Path file, String text) throws IOException {
    Path next = file.resolveSibling("next");
    Files.writeString(next, text);
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private static int status(RawClient client, String fields) {
    try {
      return get(client, "/v2", fields).status();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
