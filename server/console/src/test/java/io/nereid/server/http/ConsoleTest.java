package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.console.ConsoleOptions;
import io.nereid.types.DataType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/** The console over sockets: its files, who may ask for what, and the documents that it tells. */
class ConsoleTest {

  private static final HttpOptions WITH_CONSOLE =
      HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT);

  private static final String PROBE = "/io/nereid/server/console/probe.js";

  static RawClient.Response get(RawClient client, String path, String fields) throws IOException {
    return client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n").receive();
  }

  private static Map<String, Object> json(RawClient.Response response) {
    return JSON.std.mapFrom(response.text());
  }

  @SuppressWarnings("unchecked") // a test that is wrong about it fails
  private static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }

  private static List<?> list(Object value) {
    return (List<?>) value;
  }

  private static void assertSafe(RawClient.Response response) {
    Map<String, String> fields = response.fields();
    String policy = fields.get("content-security-policy");
    for (String wanted :
        List.of("default-src 'none'", "script-src 'self';", "frame-ancestors 'none'")) {
      assertTrue(policy.contains(wanted), policy);
    }
    assertFalse(policy.contains("unsafe"), policy);
    assertEquals("nosniff", fields.get("x-content-type-options"));
    assertEquals("DENY", fields.get("x-frame-options"));
    assertEquals("no-referrer", fields.get("referrer-policy"));
    assertFalse(fields.containsKey("set-cookie"));
  }

  // ---- Files -----------------------------------------------------------------------------------

  @Test
  void aFileHasItsTypeAndMayBeAskedForAgain() throws IOException {
    byte[] bytes = ConsoleTest.class.getResourceAsStream(PROBE).readAllBytes();
    try (TestServer server = new TestServer(WITH_CONSOLE);
        RawClient client = server.connect()) {
      RawClient.Response plain = client.get("/probe.js").expect(200);
      assertArrayEquals(bytes, plain.body());
      assertEquals("text/javascript; charset=utf-8", plain.fields().get("content-type"));
      assertEquals("no-cache", plain.fields().get("cache-control"));
      assertSafe(plain);
      RawClient.Response zipped = get(client, "/probe.js", "Accept-Encoding: gzip\r\n").expect(200);
      assertEquals("gzip", zipped.fields().get("content-encoding"));
      assertArrayEquals(
          bytes, new GZIPInputStream(new ByteArrayInputStream(zipped.body())).readAllBytes());
      String tag = plain.fields().get("etag");
      assertFalse(tag.equals(zipped.fields().get("etag")), "one validator, two forms");
      client.send("GET /probe.js HTTP/1.1\r\nHost: a\r\nIf-None-Match: " + tag + "\r\n\r\n");
      RawClient.Response same = client.receiveHead().expect(304);
      assertEquals(tag, same.fields().get("etag"));
      get(client, "/probe.js", "If-None-Match: \"other\"\r\n").expect(200);
    }
  }

  /** The field takes time by its length: by the square of it this would take an hour. */
  @Test
  void aFileMayBeAskedForWithManyTags() throws IOException {
    HttpLimits limits = HttpLimits.DEFAULT;
    HttpLimits longHeads =
        new HttpLimits(
            limits.bodyBytes(),
            2 << 20,
            limits.chunkCount(),
            limits.jsonDepth(),
            limits.connectionCount(),
            limits.requestTime(),
            limits.idleTime());
    try (TestServer server = new TestServer(WITH_CONSOLE.withLimits(longHeads));
        RawClient client = server.connect()) {
      String tag = client.get("/probe.js").expect(200).fields().get("etag");
      String others = "If-None-Match: \"a" + " ".repeat(1 << 20) + "b\" , \"c\"";
      get(client, "/probe.js", others + "\r\n").expect(200);
      String all = "GET /probe.js HTTP/1.1\r\nHost: a\r\n" + others + "  ,  " + tag + "\r\n\r\n";
      client.send(all).receiveHead().expect(304);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/none.js",
        "/Probe.js",
        "/console/probe.js",
        "/../probe.js",
        "/%2e%2e/probe.js",
        "/probe.class",
        "/ConsoleFiles.class",
        "/package-info.html",
        "/api",
        "/api/",
        "/api/none",
        "/api/models",
        "/api/models/",
        "/api/models/m/versions/0/events",
        "/api/models/m/versions/x",
        "/openapi",
        "/openapi/",
        "/openapi/.json",
        "/openapi/a/b.json"
      })
  void missingPathsAreNotFound(String path) throws IOException {
    try (TestServer server = new TestServer(WITH_CONSOLE);
        RawClient client = server.connect()) {
      assertEquals("{\"error\":\"Not Found\"}", client.get(path).expect(404).text());
    }
  }

  @Test
  void itCanBeElsewhere() throws IOException {
    ConsoleOptions console = ConsoleOptions.DEFAULT.withPath("/deep/down/");
    try (TestServer server = new TestServer(HttpOptions.DEFAULT.withConsole(console));
        RawClient client = server.connect()) {
      client.get("/deep/down/probe.js").expect(200);
      client.get("/deep/down/api/about").expect(200);
      client.get("/probe.js").expect(404);
      client.get("/").expect(404);
      RawClient.Response moved = client.get("/deep/down").expect(308);
      assertEquals("/deep/down/", moved.fields().get("location"));
      client.get("/v2").expect(200);
    }
  }

  @Test
  void withoutItNothingIsThere() throws IOException {
    try (TestServer server = new TestServer(HttpOptions.DEFAULT).identity(DataType.FP32);
        RawClient client = server.connect()) {
      for (String path :
          List.of("/", "/probe.js", "/api/about", "/openapi.json", "/openapi/FP32.json")) {
        client.get(path).expect(404);
      }
      client.post("/api/load", "{}").expect(404);
    }
  }

  @Test
  void thePagesAreSmall() throws IOException {
    Path folder = Path.of("src", "main", "resources", "io", "nereid", "server", "console");
    long bytes;
    try (Stream<Path> files = Files.list(folder)) {
      bytes = files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
    try (TestServer server = new TestServer(WITH_CONSOLE);
        RawClient client = server.connect()) {
      for (String path : List.of("/uplot.js", "/uplot.css")) {
        bytes += client.get(path).expect(200).body().length;
      }
    }
    assertTrue(bytes > 0 && bytes < 300_000, "the pages have " + bytes + " bytes");
  }

  // ---- Who may ask -----------------------------------------------------------------------------

  @Test
  void dataWantTheTokensOfTheirGroups(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("tokens");
    Files.writeString(file, "everything\nreader statistics\n");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)));
    try (TestServer server =
            new TestServer(WITH_CONSOLE.withAccess(access)).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.get("/probe.js").expect(200);
      RawClient.Response about = client.get("/api/about").expect(200);
      assertSafe(about);
      assertEquals(true, map(json(about).get("grants")).get("health"));
      assertEquals(false, map(json(about).get("grants")).get("statistics"));
      assertEquals("token", map(json(about).get("wants")).get("statistics"));
      Map<String, Object> reader =
          json(get(client, "/api/about", "Authorization: Bearer reader\r\n"));
      assertEquals(true, map(reader.get("grants")).get("statistics"));
      assertEquals("scope", map(reader.get("wants")).get("trace"));
      for (String path :
          List.of(
              "/api/overview/events",
              "/api/models/FP32/events",
              "/api/models/FP32",
              "/api/models/FP32/configuration",
              "/api/models/FP32/reload",
              "/api/requests",
              "/api/requests/events",
              "/openapi.json",
              "/openapi/FP32.json")) {
        RawClient.Response refused = client.get(path).expect(401);
        assertEquals("Bearer", refused.fields().get("www-authenticate"), path);
      }
      for (String path : List.of("/api/models/FP32", "/api/requests", "/openapi.json")) {
        get(client, path, "Authorization: Bearer reader\r\n").expect(403);
        get(client, path, "Authorization: Bearer everything\r\n").expect(200);
      }
    }
  }

  @Test
  void aRestrictedGroupIsRestrictedHereToo() throws IOException {
    AccessControl access =
        AccessControl.of(
            Restrictions.forHttp(List.of("statistics,trace:X-Admin=secret")), Optional.empty());
    try (TestServer server = new TestServer(WITH_CONSOLE.withAccess(access));
        RawClient client = server.connect()) {
      String refused = client.get("/api/overview/events").expect(403).text();
      assertTrue(refused.contains("X-Admin"), refused);
      assertEquals(
          "header X-Admin", map(json(client.get("/api/about")).get("wants")).get("statistics"));
      get(client, "/api/requests", "X-Admin: secret\r\n").expect(200);
    }
  }

  // ---- Documents -------------------------------------------------------------------------------

  @Test
  void aHostileNameIsOnlyAName() throws IOException {
    String name = "<script><img src=x onerror=alert(1)>\"\\\n";
    try (TestServer server =
            new TestServer(WITH_CONSOLE).load(TestServer.identity(name, DataType.FP32));
        RawClient client = server.connect()) {
      StringBuilder segment = new StringBuilder();
      for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
        segment.append(String.format("%%%02X", b & 0xff));
      }
      RawClient.Response details = client.get("/api/models/" + segment).expect(200);
      assertEquals(name, json(details).get("name"));
      assertEquals("application/json", details.fields().get("content-type"));
      assertSafe(details);
      client.get("/openapi/" + segment + ".json").expect(200);
      String missing = client.get("/api/models/%22%3Cb%3E").expect(404).text();
      assertEquals("there is no model '\"<b>'", JSON.std.mapFrom(missing).get("error"));
    }
  }

  @Test
  void aModelSaysWhatItIs() throws IOException {
    try (TestServer server = new TestServer(WITH_CONSOLE).identity(DataType.FP32);
        RawClient client = server.connect()) {
      Map<String, Object> model = json(client.get("/api/models/FP32/versions/1").expect(200));
      assertEquals("READY", model.get("state"));
      assertEquals(List.of("1"), model.get("versions"));
      assertEquals("identity", model.get("backend"));
      Map<String, Object> input = map(list(model.get("inputs")).getFirst());
      assertEquals("IN", input.get("name"));
      assertEquals(List.of(-1, -1), input.get("shape"));
      Map<String, Object> config = json(client.get("/api/models/FP32/configuration").expect(200));
      assertEquals("FP32", map(config.get("config")).get("name"));
      assertTrue(
          list(config.get("values")).stream()
              .anyMatch(value -> map(value).get("path").equals("input[0].name")),
          config::toString);
      assertEquals(false, json(client.get("/api/models/FP32/reload").expect(200)).get("known"));
      client.get("/api/models/none").expect(404);
      client.get("/api/models/FP32/versions/2").expect(404);
      client.post("/api/models/FP32", "{}").expect(405);
    }
  }

  @Test
  void aPlanThatCannotBeServedSaysWhichTensorRtBuiltIt(@TempDir Path models) throws IOException {
    Path version = Files.createDirectories(models.resolve("m/1"));
    byte[] plan = Arrays.copyOf("ftrt".getBytes(StandardCharsets.US_ASCII), 64);
    plan[24] = 10;
    Files.write(version.resolve("model.plan"), plan);
    try (TestServer server = new TestServer(Nereid.open(models), WITH_CONSOLE, state -> state);
        RawClient client = server.connect()) {
      Map<String, Object> model = json(client.get("/api/models/m").expect(200));
      assertEquals("FAILED", model.get("state"));
      String note = list(model.get("notes")).getFirst().toString();
      assertTrue(note.startsWith("1/model.plan was built by TensorRT 10.0.0"), note);
    }
  }

  @Test
  void aReloadIsToldBeforeItHappens(@TempDir Path models) throws IOException {
    Path directory = Files.createDirectories(models.resolve("m/1")).getParent();
    Path file = directory.resolve("config.pbtxt");
    String config =
        """
        backend: "identity"
        max_batch_size: %d
        input { name: "IN" data_type: TYPE_FP32 dims: 1 }
        output { name: "OUT" data_type: TYPE_FP32 dims: 1 }
        """;
    Files.writeString(file, config.formatted(4));
    RepositoryOptions options =
        RepositoryOptions.builder().repository(models).explicit("m").build();
    try (TestServer server = new TestServer(Nereid.open(options), WITH_CONSOLE, state -> state);
        RawClient client = server.connect()) {
      Map<String, Object> none = json(client.get("/api/models/m/reload").expect(200));
      assertEquals(true, none.get("known"));
      assertEquals(false, none.get("changed"), none::toString);
      assertEquals(List.of(), none.get("values"));
      Files.writeString(file, config.formatted(16));
      Files.createDirectory(directory.resolve("2"));
      Map<String, Object> some = json(client.get("/api/models/m/reload").expect(200));
      assertEquals(true, some.get("changed"));
      assertEquals(List.of("m/config.pbtxt"), some.get("files"));
      Map<String, Object> value = map(list(some.get("values")).getFirst());
      assertEquals("max_batch_size", value.get("path"));
      assertEquals("4", value.get("loaded"));
      assertEquals("16", value.get("next"));
      assertEquals("m/config.pbtxt:2:1", value.get("place"));
      assertEquals(List.of("2"), map(some.get("versions")).get("added"));
      assertEquals(List.of("1"), map(some.get("versions")).get("removed"));
      Files.writeString(file, config.formatted(4) + "max_bach_size: 3\n");
      Map<String, Object> broken = json(client.get("/api/models/m/reload").expect(200));
      assertEquals(5, map(broken.get("place")).get("line"), broken::toString);
      assertFalse(broken.toString().contains(models.toString()), broken::toString);
      assertEquals(4, server.nereid().model("m").spec().maxBatchSize());
    }
  }

  @Test
  void everyDocumentedPathAnswers() throws IOException {
    try (TestServer server =
            new TestServer(Nereid.create(), WITH_CONSOLE, state -> state.allowClientShm(true))
                .identity(DataType.FP32);
        RawClient client = server.connect()) {
      for (String document : List.of("/openapi.json", "/openapi/FP32.json")) {
        Map<String, Object> api = json(client.get(document).expect(200));
        assertEquals("3.1.0", api.get("openapi"));
        map(api.get("paths"))
            .forEach((path, item) ->
                map(item)
                    .keySet()
                    .forEach(method -> {
                      String real =
                          path.replace("{model}", "FP32")
                              .replace("{version}", "1")
                              .replace("{region}", "r");
                      try {
                        client.send(
                            method.toUpperCase(Locale.ROOT)
                                + " "
                                + real
                                + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
                        RawClient.Response response = client.receive();
                        assertFalse(
                            response.text().equals("{\"error\":\"Not Found\"}")
                                || response.status() == 405,
                            method + " " + path + ": " + response.text());
                      } catch (IOException e) {
                        throw new UncheckedIOException(e);
                      }
                    }));
        assertReferencesLead(api, api);
      }
    }
  }

  /** Every $ref is to a schema that is there. */
  private static void assertReferencesLead(Object value, Map<String, Object> api) {
    if (value instanceof Map<?, ?> members) {
      if (members.get("$ref") instanceof String reference) {
        String name = reference.substring("#/components/schemas/".length());
        assertTrue(map(map(api.get("components")).get("schemas")).containsKey(name), name);
      }
      members.values().forEach(member -> assertReferencesLead(member, api));
    } else if (value instanceof List<?> elements) {
      elements.forEach(element -> assertReferencesLead(element, api));
    }
  }

  @Test
  void aModelsDocumentHasItsInputs() throws IOException {
    try (TestServer server = new TestServer(WITH_CONSOLE).identity(DataType.FP32);
        RawClient client = server.connect()) {
      String text = client.get("/openapi/FP32.json").expect(200).text();
      assertTrue(text.contains("/v2/models/FP32/infer"), text);
      assertTrue(text.contains("{\"const\":\"IN\"}"), text);
      assertTrue(text.contains("{\"const\":\"FP32\"}"), text);
      client.get("/openapi/none.json").expect(404);
    }
  }
}
